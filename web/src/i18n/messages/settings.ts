// Words of the settings.

export const settings = {
  title: { en: 'Settings', th: 'ตั้งค่า' },
  lead: {
    en: 'Who may call, which models and servers are used, and how this browser shows it.',
    th: 'ใครเรียกใช้ได้ ใช้โมเดลและเซิร์ฟเวอร์ใด และเบราว์เซอร์นี้แสดงผลอย่างไร',
  },
  sections: { en: 'Settings pages', th: 'หน้าตั้งค่า' },
  keys: { en: 'API keys', th: 'API คีย์' },
  models: { en: 'Models', th: 'โมเดล' },
  servers: { en: 'Servers', th: 'เซิร์ฟเวอร์' },
  browser: { en: 'This browser', th: 'เบราว์เซอร์นี้' },

  keysLead: {
    en: 'A key lets a program in under its own name, with its own roles. The server keeps only a hash of it.',
    th: 'คีย์ให้โปรแกรมเข้าใช้ในชื่อของตนเองพร้อมบทบาทของตนเอง เซิร์ฟเวอร์เก็บเพียงแฮชของคีย์',
  },
  createKey: { en: 'New key', th: 'สร้างคีย์' },
  noKeysTitle: { en: 'No API keys', th: 'ยังไม่มี API คีย์' },
  noKeysBody: {
    en: 'So far only the start token opens this server. Make a key for every program and every person, so that the log tells them apart.',
    th: 'ขณะนี้มีเพียงโทเค็นเริ่มต้นที่เปิดเซิร์ฟเวอร์นี้ได้ ควรสร้างคีย์ให้แต่ละโปรแกรมและแต่ละคน เพื่อให้บันทึกแยกได้ว่าใครเป็นใคร',
  },
  actor: { en: 'Actor', th: 'ผู้กระทำ' },
  actorHint: {
    en: 'The name that stands in the log, such as `pharmacy-agent`. Letters, digits, `.`, `_` and `-`.',
    th: 'ชื่อที่ปรากฏในบันทึก เช่น `pharmacy-agent` ใช้ตัวอักษรอังกฤษ ตัวเลข `.` `_` และ `-`',
  },
  actorWrong: {
    en: '1 to 128 letters, digits, dots, underscores or hyphens, the first a letter or digit',
    th: 'ตัวอักษรอังกฤษ ตัวเลข จุด ขีดล่าง หรือขีดกลาง 1 ถึง 128 ตัว โดยตัวแรกเป็นตัวอักษรหรือตัวเลข',
  },
  roles: { en: 'Roles', th: 'บทบาท' },
  rolesHint: { en: 'Give as few as the work needs.', th: 'ให้เท่าที่งานจำเป็น' },
  rolesMissing: { en: 'Choose at least one role', th: 'เลือกอย่างน้อยหนึ่งบทบาท' },
  roleNames: {
    viewer: { en: 'reads what is public', th: 'อ่านข้อมูลสาธารณะ' },
    clinician: { en: 'works with patients’ data', th: 'ทำงานกับข้อมูลผู้ป่วย' },
    author: { en: 'writes documents', th: 'เขียนเอกสาร' },
    curator: { en: 'brings in and maintains evidence', th: 'นำเข้าและดูแลหลักฐาน' },
    approver: { en: 'approves documents', th: 'อนุมัติเอกสาร' },
    auditor: { en: 'reads and verifies the log', th: 'อ่านและตรวจสอบบันทึก' },
    privacy_officer: { en: 'erases patients’ data', th: 'ลบข้อมูลผู้ป่วย' },
    admin: { en: 'manages keys and settings', th: 'จัดการคีย์และการตั้งค่า' },
    agent: { en: 'a program that acts by itself', th: 'โปรแกรมที่ทำงานด้วยตนเอง' },
  },
  scopes: { en: 'Scopes', th: 'ขอบเขต' },
  scopesHint: {
    en: 'SMART scopes such as `patient/Observation.rs`, one per line. Empty: all that the roles allow.',
    th: 'ขอบเขตแบบ SMART เช่น `patient/Observation.rs` บรรทัดละหนึ่งรายการ เว้นว่างคือทั้งหมดตามบทบาท',
  },
  allScopes: { en: 'as the roles', th: 'ตามบทบาท' },
  expiry: { en: 'Expires', th: 'หมดอายุ' },
  expiryDays: { en: 'in {days} days', th: 'ใน {days} วัน' },
  expiryNever: { en: 'never', th: 'ไม่หมดอายุ' },
  created: { en: 'Created', th: 'สร้างเมื่อ' },
  state: { en: 'State', th: 'สถานะ' },
  active: { en: 'Active', th: 'ใช้งานได้' },
  expired: { en: 'Expired', th: 'หมดอายุแล้ว' },
  revoked: { en: 'Revoked', th: 'ถูกเพิกถอน' },
  actions: { en: 'Actions', th: 'การทำงาน' },
  create: { en: 'Make the key', th: 'สร้างคีย์' },
  createdTitle: { en: 'Copy the key now', th: 'คัดลอกคีย์ตอนนี้' },
  createdBody: {
    en: 'This is the only time it is shown. The server keeps a hash and cannot show it again; a lost key is revoked and replaced.',
    th: 'คีย์จะแสดงเพียงครั้งนี้ เซิร์ฟเวอร์เก็บเพียงแฮชและแสดงอีกไม่ได้ หากทำหายให้เพิกถอนแล้วสร้างใหม่',
  },
  keyOf: { en: 'API key of {actor}', th: 'API คีย์ของ {actor}' },
  stored: { en: 'I have stored it', th: 'เก็บไว้แล้ว' },
  revoke: { en: 'Revoke', th: 'เพิกถอน' },
  revokeOf: { en: 'Revoke the key of {actor}', th: 'เพิกถอนคีย์ของ {actor}' },
  revokeTitle: { en: 'Revoke this key?', th: 'เพิกถอนคีย์นี้หรือไม่' },
  revokeBody: {
    en: 'Whatever uses the key {key} of {actor} is refused within seconds. This cannot be undone.',
    th: 'สิ่งที่ใช้คีย์ {key} ของ {actor} จะถูกปฏิเสธภายในไม่กี่วินาที และย้อนกลับไม่ได้',
  },
  revokeDone: { en: 'The key of {actor} is revoked', th: 'เพิกถอนคีย์ของ {actor} แล้ว' },

  searchParts: { en: 'Search by meaning', th: 'การค้นตามความหมาย' },
  searchPartsLead: {
    en: 'What search works with beside words and names. This page has just made one search to find out.',
    th: 'สิ่งที่การค้นใช้นอกเหนือจากคำและชื่อ หน้านี้เพิ่งลองค้นหนึ่งครั้งเพื่อตรวจดู',
  },
  embeddingModel: { en: 'Embedding model', th: 'โมเดลความหมาย' },
  lexica: { en: 'Thai-English dictionaries', th: 'พจนานุกรมไทย-อังกฤษ' },
  inUse: { en: 'In use', th: 'ใช้งานอยู่' },
  none: { en: 'None', th: 'ไม่มี' },
  notUsable: { en: 'Cannot be used', th: 'ใช้งานไม่ได้' },
  modelNone: {
    en: 'Words and names alone are searched. `materia models pull` gets one for the next start of the server.',
    th: 'ค้นจากคำและชื่อเท่านั้น ติดตั้งได้ด้วย `materia models pull` และจะใช้เมื่อเริ่มเซิร์ฟเวอร์ครั้งถัดไป',
  },
  vectorsMissing: {
    one: { en: '{count} text still waits for its vector; search finds it by words.', th: 'ยังเหลือ {count} ข้อความที่รอเวกเตอร์ ระหว่างนี้ค้นพบได้จากคำ' },
    other: { en: '{count} texts still wait for their vectors; search finds them by words.', th: 'ยังเหลือ {count} ข้อความที่รอเวกเตอร์ ระหว่างนี้ค้นพบได้จากคำ' },
  },
  lexicaWhich: { en: '`materia lexicon list` names them.', th: 'ดูรายชื่อได้ด้วย `materia lexicon list`' },
  lexicaNone: {
    en: 'From one language to the other, search knows names alone. `materia lexicon pull` gets them for the next start of the server.',
    th: 'การค้นข้ามภาษารู้จักเฉพาะชื่อ ติดตั้งได้ด้วย `materia lexicon pull` และจะใช้เมื่อเริ่มเซิร์ฟเวอร์ครั้งถัดไป',
  },
  languageModel: { en: 'Language model', th: 'โมเดลภาษา' },
  modelsTitle: { en: 'No language model is configured', th: 'ยังไม่ได้ตั้งค่าโมเดลภาษา' },
  modelsBody: {
    en: 'Everything this version serves works without one. Providers will be shown here once the server can use them.',
    th: 'ทุกอย่างที่รุ่นนี้เปิดให้ใช้ทำงานได้โดยไม่ต้องมีโมเดลภาษา ผู้ให้บริการโมเดลจะแสดงที่นี่เมื่อเซิร์ฟเวอร์ใช้ได้',
  },
  serversTitle: { en: 'No other server is connected', th: 'ยังไม่ได้เชื่อมต่อเซิร์ฟเวอร์อื่น' },
  serversBody: {
    en: 'This version calls no other MCP server. Connected servers, their tools and the approval of each tool will be shown here once it can.',
    th: 'รุ่นนี้ยังไม่เรียกเซิร์ฟเวอร์ MCP อื่น เซิร์ฟเวอร์ที่เชื่อมต่อ เครื่องมือ และการอนุมัติแต่ละเครื่องมือจะแสดงที่นี่เมื่อทำได้',
  },

  browserLead: {
    en: 'Kept in this browser only. Your token is never kept here.',
    th: 'เก็บไว้ในเบราว์เซอร์นี้เท่านั้น โทเค็นของคุณไม่ถูกเก็บที่นี่',
  },
  shortcutsOn: { en: 'Keyboard shortcuts', th: 'แป้นพิมพ์ลัด' },
  shortcutsHint: {
    en: 'Single keys such as `?` and `/`. Switch them off if you dictate or use a screen reader that needs them.',
    th: 'ปุ่มเดี่ยว เช่น `?` และ `/` ปิดได้หากใช้การพูดสั่งหรือโปรแกรมอ่านหน้าจอที่ต้องใช้ปุ่มเหล่านี้',
  },
} as const;
