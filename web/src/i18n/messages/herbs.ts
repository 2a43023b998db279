// Words of the herb pages.

export const herbs = {
  title: { en: 'Herbs', th: 'สมุนไพร' },
  lead: {
    en: 'Medicinal plants of the record, each with its monograph, what speaks against taking it, and who says so.',
    th: 'พืชสมุนไพรในบันทึก พร้อมโมโนกราฟ ข้อห้ามและข้อควรระวัง และแหล่งที่มาของแต่ละข้อ',
  },
  filter: { en: 'Filter by name', th: 'กรองตามชื่อ' },
  filterHint: { en: 'In any language.', th: 'ภาษาใดก็ได้' },
  count: {
    one: { en: '{count} herb', th: 'สมุนไพร {count} ชนิด' },
    other: { en: '{count} herbs', th: 'สมุนไพร {count} ชนิด' },
  },
  noneTitle: { en: 'The record has no herbs', th: 'ในบันทึกยังไม่มีสมุนไพร' },
  noneBody: {
    en: 'They come with an import, or with `put_records`: nodes of the category `herb`.',
    th: 'เพิ่มได้ด้วยการนำเข้า หรือ `put_records` เป็นโหนดหมวด `herb`',
  },
  noneOfName: { en: 'No herb that is loaded has that name.', th: 'ไม่มีสมุนไพรที่โหลดแล้วใช้ชื่อนี้' },
  more: { en: 'Look through more of the record', th: 'ดูบันทึกส่วนถัดไป' },
  hasMonograph: { en: 'Monograph', th: 'มีโมโนกราฟ' },
  all: { en: 'All herbs', th: 'สมุนไพรทั้งหมด' },

  names: { en: 'Names', th: 'ชื่อ' },
  family: { en: 'Family', th: 'วงศ์' },
  parts: { en: 'Parts used', th: 'ส่วนที่ใช้' },
  showInGraph: { en: 'Open in the graph explorer', th: 'เปิดในหน้ากราฟ' },

  monograph: { en: 'Monograph', th: 'โมโนกราฟ' },
  monographNone: { en: 'No monograph is recorded in this language.', th: 'ไม่มีโมโนกราฟภาษานี้ในบันทึก' },

  against: { en: 'What speaks against taking it', th: 'ข้อห้าม ข้อควรระวัง และปฏิกิริยา' },
  againstLead: {
    en: 'What is recorded, the strongest first. What is not listed is unknown, not safe.',
    th: 'เรียงจากระดับสูงสุด สิ่งที่ไม่อยู่ในรายการคือยังไม่ทราบ ไม่ได้แปลว่าปลอดภัย',
  },
  againstNone: {
    en: 'Nothing is recorded against it. That is no statement that it is safe.',
    th: 'ไม่มีข้อห้ามบันทึกไว้ แต่ไม่ได้แปลว่าปลอดภัย',
  },
  againstNotAsked: {
    en: 'This list is of herbs and formulations only. What is recorded of this stands below.',
    th: 'รายการนี้มีเฉพาะสมุนไพรและตำรับยา สิ่งที่บันทึกไว้อยู่ด้านล่าง',
  },
  inherited: { en: 'inherited from {name}', th: 'สืบเนื่องจาก {name}' },
  inheritedBy: { en: 'inherited from {name}, according to {who}', th: 'สืบเนื่องจาก {name} ตามที่ {who} ระบุ' },
  recordedOf: { en: 'recorded of {name}', th: 'บันทึกไว้กับ {name}' },
  notCovered: {
    en: 'What these ingredients may do is unknown: nothing is recorded against them, or they are not in the record at all.',
    th: 'ไม่ทราบว่าส่วนประกอบเหล่านี้มีผลอย่างไร เพราะไม่มีข้อห้ามบันทึกไว้ หรือไม่มีอยู่ในบันทึกเลย',
  },
  noRecord: {
    en: 'Nothing is recorded against {names}. That is no statement that it is safe.',
    th: 'ไม่มีข้อห้ามบันทึกไว้สำหรับ {names} แต่ไม่ได้แปลว่าปลอดภัย',
  },
  againstMore: { en: 'There are more than are shown here.', th: 'ยังมีมากกว่าที่แสดง' },
  facts: { en: 'What else is said of it', th: 'ข้อมูลอื่นที่บันทึกไว้' },
  factsNone: { en: 'Nothing else is recorded.', th: 'ไม่มีข้อมูลอื่นบันทึกไว้' },
  statement: { en: 'Statement', th: 'ข้อความ' },
  about: { en: 'With or in', th: 'กับหรือใน' },
  unverifiedCount: {
    one: {
      en: '{count} fact on this page is unverified: nobody has checked it against its source, or that it holds here.',
      th: 'หน้านี้มี {count} ข้อที่ยังไม่ได้ตรวจกับแหล่งที่มา หรือยังไม่ได้ตรวจว่าใช้กับกรณีนี้ได้',
    },
    other: {
      en: '{count} facts on this page are unverified: nobody has checked them against their sources, or that they hold here.',
      th: 'หน้านี้มี {count} ข้อที่ยังไม่ได้ตรวจกับแหล่งที่มา หรือยังไม่ได้ตรวจว่าใช้กับกรณีนี้ได้',
    },
  },

  papers: { en: 'Papers', th: 'บทความวิจัย' },
  papersNone: { en: 'No paper is recorded behind these facts.', th: 'ไม่มีบทความวิจัยบันทึกไว้สำหรับข้อมูลเหล่านี้' },
  graph: { en: 'In the graph', th: 'ในกราฟ' },
} as const;
