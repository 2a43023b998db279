// Words about proofs, checkpoints and keys of the log.

export const proof = {
  title: { en: 'Proof', th: 'หลักฐานพิสูจน์' },
  lead: {
    en: 'The server hands out a proof; this browser checks it by itself. You need not believe what this page’s server says about it.',
    th: 'เซิร์ฟเวอร์ให้หลักฐานมา แล้วเบราว์เซอร์นี้ตรวจเอง คุณไม่จำเป็นต้องเชื่อสิ่งที่เซิร์ฟเวอร์บอก',
  },
  verify: { en: 'Get the proof and check it here', th: 'ขอหลักฐานและตรวจที่นี่' },
  verifyAgain: { en: 'Check again', th: 'ตรวจอีกครั้ง' },
  pendingTitle: { en: 'Not in the log yet', th: 'ยังไม่อยู่ในบันทึก' },
  pendingBody: {
    en: 'The event is written but has no place in the tree yet. That takes at most a second; a signed checkpoint over it takes at most a minute.',
    th: 'เหตุการณ์ถูกเขียนแล้วแต่ยังไม่มีตำแหน่งในต้นไม้ ซึ่งใช้เวลาไม่เกินหนึ่งวินาที และจุดตรวจที่ลงนามครอบคลุมจะมีภายในหนึ่งนาที',
  },
  provenTitle: { en: 'Proven', th: 'พิสูจน์แล้ว' },
  provenBody: {
    en: 'This event is in the log, unchanged, under a checkpoint signed by the log’s key.',
    th: 'เหตุการณ์นี้อยู่ในบันทึกโดยไม่ถูกเปลี่ยนแปลง ภายใต้จุดตรวจที่ลงนามด้วยคีย์ของบันทึก',
  },
  provenOpenKey: {
    en: 'You have not yet said which key you trust, so a server that changed everything at once would not be noticed.',
    th: 'คุณยังไม่ได้ระบุคีย์ที่เชื่อถือ ดังนั้นเซิร์ฟเวอร์ที่เปลี่ยนทุกอย่างพร้อมกันจะไม่ถูกจับได้',
  },
  notProvenTitle: { en: 'Not proven', th: 'พิสูจน์ไม่ได้' },
  notProvenBody: {
    en: 'At least one step failed. Keep this page and the proof, and tell your auditor or privacy officer.',
    th: 'มีอย่างน้อยหนึ่งขั้นตอนไม่ผ่าน โปรดเก็บหน้านี้และหลักฐานไว้ แล้วแจ้งผู้ตรวจสอบหรือเจ้าหน้าที่คุ้มครองข้อมูล',
  },
  cannotTitle: { en: 'This browser cannot check', th: 'เบราว์เซอร์นี้ตรวจไม่ได้' },
  cannotBody: {
    en: 'Browsers allow the needed functions only over HTTPS or on the same machine, and old ones lack Ed25519. Use `materia audit verify`, or open the page over HTTPS.',
    th: 'เบราว์เซอร์อนุญาตฟังก์ชันที่จำเป็นเฉพาะเมื่อใช้ HTTPS หรืออยู่ในเครื่องเดียวกัน และรุ่นเก่าไม่มี Ed25519 ให้ใช้ `materia audit verify` หรือเปิดหน้านี้ผ่าน HTTPS',
  },

  steps: { en: 'Steps of the check', th: 'ขั้นตอนการตรวจ' },
  stepEvent: { en: 'The leaf is the event shown here', th: 'ใบของต้นไม้คือเหตุการณ์ที่แสดงอยู่' },
  stepEventPasted: { en: 'The leaf is a JSON text', th: 'ใบของต้นไม้เป็นข้อความ JSON' },
  stepFormat: { en: 'Proof and checkpoint are well formed', th: 'หลักฐานและจุดตรวจมีรูปแบบถูกต้อง' },
  stepInclusion: { en: 'The path leads from the leaf to the signed root', th: 'เส้นทางจากใบนำไปถึงรากที่ลงนาม' },
  stepSignature: { en: 'The checkpoint is signed by the log’s key', th: 'จุดตรวจลงนามด้วยคีย์ของบันทึก' },
  stepKey: { en: 'The key is the one you trust', th: 'คีย์ตรงกับคีย์ที่คุณเชื่อถือ' },
  passed: { en: 'Passed', th: 'ผ่าน' },
  failed: { en: 'Failed', th: 'ไม่ผ่าน' },
  unchecked: { en: 'Not checked', th: 'ไม่ได้ตรวจ' },
  unknown: { en: 'Nothing to compare with', th: 'ไม่มีสิ่งเปรียบเทียบ' },

  leafHash: { en: 'Leaf hash', th: 'แฮชของใบ' },
  place: { en: 'Place', th: 'ตำแหน่ง' },
  placeOf: { en: 'index {index} in a log of {size}', th: 'ลำดับที่ {index} ในบันทึกขนาด {size}' },
  pathLength: { en: 'Path', th: 'เส้นทาง' },
  hashes: {
    one: { en: '{count} hash', th: '{count} แฮช' },
    other: { en: '{count} hashes', th: '{count} แฮช' },
  },
  origin: { en: 'Log', th: 'บันทึก' },
  rootHash: { en: 'Root hash', th: 'แฮชราก' },
  treeSize: { en: 'Tree size', th: 'ขนาดต้นไม้' },
  key: { en: 'Key', th: 'คีย์' },
  others: { en: 'Other signatures', th: 'ลายเซ็นอื่น' },
  othersHint: { en: '{count}, by keys not known here', th: '{count} จากคีย์ที่ไม่รู้จักที่นี่' },
  download: { en: 'Download the proof', th: 'ดาวน์โหลดหลักฐาน' },
  downloadEvent: { en: 'Download the event', th: 'ดาวน์โหลดเหตุการณ์' },
  showProof: { en: 'Proof and key as text', th: 'หลักฐานและคีย์เป็นข้อความ' },
  proofText: { en: 'Proof (c2sp.org/tlog-proof@v1)', th: 'หลักฐาน (c2sp.org/tlog-proof@v1)' },
  keyText: { en: 'Key of the log', th: 'คีย์ของบันทึก' },

  trust: { en: 'Trust this key', th: 'เชื่อถือคีย์นี้' },
  trustLead: {
    en: 'Compare the key with one that you got another way, such as from `materia audit checkpoint` or your auditor, before you trust it.',
    th: 'เปรียบเทียบคีย์กับคีย์ที่ได้มาทางอื่น เช่นจาก `materia audit checkpoint` หรือจากผู้ตรวจสอบ ก่อนเชื่อถือ',
  },
  trusted: { en: 'This browser now trusts the key', th: 'เบราว์เซอร์นี้เชื่อถือคีย์แล้ว' },
  forget: { en: 'Forget', th: 'ลืม' },

  seenOlder: {
    en: 'This browser has verified a larger log before ({size} events). The server now shows an older state: after a restored backup that is expected, otherwise it is not.',
    th: 'เบราว์เซอร์นี้เคยตรวจบันทึกที่ใหญ่กว่านี้ ({size} เหตุการณ์) ตอนนี้เซิร์ฟเวอร์แสดงสถานะเก่ากว่า ซึ่งเป็นปกติหากเพิ่งกู้คืนข้อมูลสำรอง นอกนั้นถือว่าผิดปกติ',
  },
  seenForked: {
    en: 'This browser has verified another log of the same size ({size} events). Two histories exist. Tell your auditor.',
    th: 'เบราว์เซอร์นี้เคยตรวจบันทึกอื่นที่มีขนาดเท่ากัน ({size} เหตุการณ์) จึงมีประวัติสองชุด โปรดแจ้งผู้ตรวจสอบ',
  },

  wholeTitle: { en: 'Check the whole log', th: 'ตรวจบันทึกทั้งหมด' },
  wholeLead: {
    en: 'The server recomputes the tree from the first event and compares every audited object with the hash in its last event. This can take minutes for millions of events.',
    th: 'เซิร์ฟเวอร์คำนวณต้นไม้ใหม่ตั้งแต่เหตุการณ์แรก และเทียบวัตถุทุกชิ้นกับแฮชในเหตุการณ์ล่าสุดของมัน หากมีหลายล้านเหตุการณ์อาจใช้เวลาหลายนาที',
  },
  wholeStart: { en: 'Check now', th: 'ตรวจตอนนี้' },
  wholeRunning: { en: 'The server is checking', th: 'เซิร์ฟเวอร์กำลังตรวจ' },
  wholeOk: { en: 'The log is intact', th: 'บันทึกสมบูรณ์' },
  wholeBad: {
    one: { en: '{count} problem found', th: 'พบปัญหา {count} รายการ' },
    other: { en: '{count} problems found', th: 'พบปัญหา {count} รายการ' },
  },
  eventsChecked: { en: 'Events checked', th: 'เหตุการณ์ที่ตรวจ' },
  objectsChecked: { en: 'Objects checked', th: 'วัตถุที่ตรวจ' },
  problems: { en: 'Problems', th: 'ปัญหา' },
  problemKind: { en: 'Kind', th: 'ชนิด' },
  problemWhere: { en: 'Where', th: 'ตำแหน่ง' },
  problemWhat: { en: 'What', th: 'รายละเอียด' },
  problemIndex: { en: 'index {index}', th: 'ลำดับ {index}' },

  checkpointTitle: { en: 'Signed checkpoint', th: 'จุดตรวจที่ลงนาม' },
  checkpointLead: {
    en: 'A signed statement of how long the log is and what its root is. Keep it outside of this server: every later log must agree with it.',
    th: 'ข้อความที่ลงนามว่าบันทึกยาวเท่าใดและมีรากใด โปรดเก็บไว้นอกเซิร์ฟเวอร์นี้ บันทึกในภายหลังทุกครั้งต้องสอดคล้องกับข้อความนี้',
  },
  checkpointGet: { en: 'Get a checkpoint and check it here', th: 'ขอจุดตรวจและตรวจที่นี่' },
  checkpointText: { en: 'Checkpoint (signed note)', th: 'จุดตรวจ (signed note)' },
  checkpointDownload: { en: 'Download the checkpoint', th: 'ดาวน์โหลดจุดตรวจ' },
  checkpointSigned: { en: 'The checkpoint is signed by the log’s key.', th: 'จุดตรวจนี้ลงนามด้วยคีย์ของบันทึก' },

  memoryTitle: { en: 'What this browser remembers', th: 'สิ่งที่เบราว์เซอร์นี้จำไว้' },
  memoryLead: {
    en: 'Two things that the server cannot change: the key you trust, and the largest checkpoint this browser has verified. With them a rolled-back or forked log is noticed.',
    th: 'สองสิ่งที่เซิร์ฟเวอร์เปลี่ยนไม่ได้: คีย์ที่คุณเชื่อถือ และจุดตรวจใหญ่สุดที่เบราว์เซอร์นี้เคยตรวจ ทำให้จับบันทึกที่ถูกย้อนหรือแตกแขนงได้',
  },
  memoryKey: { en: 'Trusted key', th: 'คีย์ที่เชื่อถือ' },
  memoryCheckpoint: { en: 'Largest verified checkpoint', th: 'จุดตรวจใหญ่สุดที่เคยตรวจ' },
  memoryCheckpointIs: { en: '{size} events, verified {time}', th: '{size} เหตุการณ์ ตรวจเมื่อ {time}' },
  memoryNoKey: {
    en: 'None. Check the proof of an event and trust its key there, or paste one here.',
    th: 'ยังไม่มี ให้ตรวจหลักฐานของเหตุการณ์แล้วกดเชื่อถือคีย์ หรือวางคีย์ที่นี่',
  },
  memoryNoCheckpoint: { en: 'None. Check the proof of an event first.', th: 'ยังไม่มี ให้ตรวจหลักฐานของเหตุการณ์ก่อน' },
  keyField: { en: 'Key of the log (vkey)', th: 'คีย์ของบันทึก (vkey)' },
  keyFieldHint: { en: 'As `name+id+key`, from a source that you trust.', th: 'ในรูป `name+id+key` จากแหล่งที่คุณเชื่อถือ' },
  keyWrong: {
    en: 'This is not a verifier key: expected name+id+key with an Ed25519 key and its id',
    th: 'ไม่ใช่คีย์สำหรับตรวจ ต้องเป็น name+id+key พร้อมคีย์ Ed25519 และรหัสของคีย์',
  },

  pasteTitle: { en: 'Check a proof you were given', th: 'ตรวจหลักฐานที่ได้รับมา' },
  pasteLead: {
    en: 'Nothing you paste here is sent anywhere; the check runs in this browser alone.',
    th: 'ข้อมูลที่วางที่นี่จะไม่ถูกส่งไปที่ใด การตรวจทำในเบราว์เซอร์นี้เท่านั้น',
  },
  pasteEvent: { en: 'Event, exactly as in the log', th: 'เหตุการณ์ ตรงตามในบันทึก' },
  pasteProof: { en: 'Proof', th: 'หลักฐาน' },
  pasteProofHint: { en: 'The text that begins with `c2sp.org/tlog-proof@v1`.', th: 'ข้อความที่ขึ้นต้นด้วย `c2sp.org/tlog-proof@v1`' },
  pasteCheck: { en: 'Check', th: 'ตรวจ' },
  pasteMissing: { en: 'Needed for the check', th: 'จำเป็นสำหรับการตรวจ' },
} as const;
