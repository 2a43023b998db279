// Words of the search page.

export const search = {
  title: { en: 'Search', th: 'ค้นหา' },
  lead: {
    en: 'Papers, monographs and the things of the evidence graph, by words, by meaning and by name. Thai finds English, and English finds Thai.',
    th: 'ค้นบทความ โมโนกราฟ และสิ่งต่าง ๆ ในกราฟหลักฐาน ด้วยคำ ความหมาย และชื่อ ถามภาษาไทยก็พบเอกสารอังกฤษ และกลับกัน',
  },
  form: { en: 'Search the evidence', th: 'ค้นหาหลักฐาน' },
  query: { en: 'Question or words', th: 'คำถามหรือคำค้น' },
  queryHint: {
    en: 'Thai, English or both. It is sent to this server only, and never stands in the address.',
    th: 'ภาษาไทย อังกฤษ หรือปนกัน คำค้นส่งไปที่เซิร์ฟเวอร์นี้เท่านั้น และไม่ปรากฏในแถบที่อยู่',
  },
  queryEmpty: { en: 'Type what you are looking for', th: 'พิมพ์สิ่งที่ต้องการค้นหา' },
  language: { en: 'Names in', th: 'แสดงชื่อเป็น' },
  languageAuto: { en: 'the language of the question', th: 'ภาษาของคำถาม' },
  topK: { en: 'Hits at most', th: 'ผลลัพธ์สูงสุด' },
  topKWrong: { en: 'A number from 1 to 100', th: 'ตัวเลขตั้งแต่ 1 ถึง 100' },
  search: { en: 'Search', th: 'ค้นหา' },
  clear: { en: 'Clear', th: 'ล้าง' },

  filters: { en: 'Filters', th: 'ตัวกรอง' },
  filtersSet: {
    one: { en: '{count} filter set', th: 'ตั้งตัวกรอง {count} ข้อ' },
    other: { en: '{count} filters set', th: 'ตั้งตัวกรอง {count} ข้อ' },
  },
  types: { en: 'Types', th: 'ประเภท' },
  sources: { en: 'Sources', th: 'แหล่งที่มา' },
  categories: { en: 'Categories of a node', th: 'หมวดของโหนด' },
  anyHint: { en: 'Any of these; empty for all.', th: 'ตรงกับข้อใดข้อหนึ่ง เว้นว่างคือทั้งหมด' },
  textLanguage: { en: 'Text written in', th: 'ภาษาของเนื้อความ' },
  anyLanguage: { en: 'any language', th: 'ทุกภาษา' },
  yearFrom: { en: 'From year', th: 'ตั้งแต่ปี' },
  yearTo: { en: 'To year', th: 'ถึงปี' },
  yearHint: { en: 'Of the common era, such as 2019.', th: 'ปีคริสต์ศักราช เช่น 2019' },
  yearWrong: { en: 'A year such as 2019', th: 'ปี ค.ศ. เช่น 2019' },
  yearOrder: { en: 'Not before the first year', th: 'ต้องไม่ก่อนปีเริ่มต้น' },
  withoutRetracted: { en: 'Without retracted or doubted papers', th: 'ไม่รวมบทความที่ถูกเพิกถอนหรือมีข้อกังวล' },

  startTitle: { en: 'Ask the evidence', th: 'ถามหลักฐาน' },
  startBody: {
    en: 'A question such as “which herbs help with cough”, a name in any language, or a few words.',
    th: 'พิมพ์คำถาม เช่น “สมุนไพรใดช่วยแก้ไอ” ชื่อในภาษาใดก็ได้ หรือคำสองสามคำ',
  },
  searching: { en: 'Searching', th: 'กำลังค้นหา' },
  noneTitle: { en: 'Nothing was found', th: 'ไม่พบผลลัพธ์' },
  noneBody: {
    en: 'That says nothing about the world: only that the record has no such words. Try fewer filters or other words.',
    th: 'ไม่ได้แปลว่าไม่มีอยู่จริง เพียงแต่ในบันทึกไม่มีคำเหล่านี้ ลองลดตัวกรองหรือใช้คำอื่น',
  },
  count: {
    one: { en: '{count} hit', th: 'ผลลัพธ์ {count} รายการ' },
    other: { en: '{count} hits', th: 'ผลลัพธ์ {count} รายการ' },
  },
  hits: { en: 'Hits', th: 'ผลลัพธ์' },
  withoutModel: {
    en: 'No embedding model took part: words and names alone were searched. `materia models pull` gets one.',
    th: 'ไม่ได้ใช้โมเดลความหมาย ค้นจากคำและชื่อเท่านั้น ติดตั้งโมเดลได้ด้วย `materia models pull`',
  },
  modelUnusable: {
    en: 'The embedding model that was chosen cannot be used ({fault}): words and names alone were searched. `materia doctor` tells more; `materia models use` chooses another one for the next start of the server.',
    th: 'โมเดลความหมายที่เลือกไว้ใช้งานไม่ได้ ({fault}) จึงค้นจากคำและชื่อเท่านั้น ดูสาเหตุด้วย `materia doctor` หรือเลือกโมเดลอื่นด้วย `materia models use` ก่อนเริ่มเซิร์ฟเวอร์ครั้งถัดไป',
  },
  withoutVectors: {
    en: 'The embedding model did not take part in this search: words and names alone were searched.',
    th: 'การค้นครั้งนี้ไม่ได้ใช้โมเดลความหมาย ค้นจากคำและชื่อเท่านั้น',
  },

  why: { en: 'Why it was found', th: 'เหตุที่พบ' },
  words: { en: 'words', th: 'คำ' },
  meaning: { en: 'meaning', th: 'ความหมาย' },
  score: { en: 'score', th: 'คะแนน' },
  notUsed: { en: 'no part', th: 'ไม่มีส่วน' },
  names: { en: 'names', th: 'ชื่อ' },
  openHerb: { en: 'Herb page', th: 'หน้าสมุนไพร' },
  openGraph: { en: 'Show in the graph', th: 'ดูในกราฟ' },
  read: { en: 'Read', th: 'อ่าน' },

  select: { en: 'Select {title}', th: 'เลือก {title}' },
  selectAll: { en: 'Select all documents', th: 'เลือกเอกสารทั้งหมด' },
  selectNone: { en: 'Select none', th: 'ไม่เลือก' },
  selected: {
    one: { en: '{count} document selected', th: 'เลือก {count} เอกสาร' },
    other: { en: '{count} documents selected', th: 'เลือก {count} เอกสาร' },
  },
  exportAs: { en: 'Export the selected documents', th: 'ส่งออกเอกสารที่เลือก' },
  formats: {
    bibtex: { en: 'BibTeX', th: 'BibTeX' },
    ris: { en: 'RIS', th: 'RIS' },
    csl_json: { en: 'CSL-JSON', th: 'CSL-JSON' },
  },
  exported: {
    one: { en: '{count} citation saved', th: 'บันทึกรายการอ้างอิง {count} รายการแล้ว' },
    other: { en: '{count} citations saved', th: 'บันทึกรายการอ้างอิง {count} รายการแล้ว' },
  },
} as const;
