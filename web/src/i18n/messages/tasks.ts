// Words of the tasks page.

export const tasks = {
  title: { en: 'Tasks', th: 'งาน' },
  lead: {
    en: 'What is to be written next, by which generator and from which documents. A claimed task is yours until you complete it or the claim runs out.',
    th: 'สิ่งที่ต้องเขียนต่อ ใช้ตัวสร้างใด และจากเอกสารใด งานที่รับไปแล้วเป็นของคุณจนกว่าจะทำเสร็จหรือหมดเวลารับงาน',
  },
  claimNext: { en: 'Claim the next task', th: 'รับงานถัดไป' },
  claimed: { en: '{task} is yours', th: '{task} เป็นของคุณแล้ว' },
  noneToClaim: { en: 'There is no pending task to claim', th: 'ไม่มีงานที่รอให้รับ' },
  reload: { en: 'Reload', th: 'โหลดใหม่' },

  filters: { en: 'Filter tasks', th: 'กรองงาน' },
  project: { en: 'Project', th: 'โครงการ' },
  projectHint: { en: 'Empty for the project of the server.', th: 'เว้นว่างเพื่อใช้โครงการของเซิร์ฟเวอร์' },
  dependsOn: { en: 'Depends on document', th: 'ขึ้นกับเอกสาร' },
  dependsOnHint: { en: 'An id such as `PRD-006`.', th: 'รหัส เช่น `PRD-006`' },
  missingMandatory: { en: 'Only tasks without a mandatory input', th: 'เฉพาะงานที่ไม่มีข้อมูลเข้าที่บังคับ' },
  apply: { en: 'Filter', th: 'กรอง' },
  clear: { en: 'Clear', th: 'ล้าง' },

  statuses: {
    pending: { en: 'Pending', th: 'รอรับ' },
    in_progress: { en: 'In progress', th: 'กำลังทำ' },
    completed: { en: 'Completed', th: 'เสร็จแล้ว' },
  },
  board: { en: 'Task board', th: 'กระดานงาน' },
  columnEmpty: {
    pending: { en: 'Nothing waits here. Approving a document queues the tasks that follow from it.', th: 'ไม่มีงานรออยู่ การอนุมัติเอกสารจะสร้างงานที่ต้องทำต่อ' },
    in_progress: { en: 'Nobody is working on a task.', th: 'ไม่มีใครกำลังทำงานอยู่' },
    completed: { en: 'No task has been completed.', th: 'ยังไม่มีงานที่เสร็จ' },
  },
  count: {
    one: { en: '{count} input', th: 'ข้อมูลเข้า {count} รายการ' },
    other: { en: '{count} inputs', th: 'ข้อมูลเข้า {count} รายการ' },
  },
  noMandatory: { en: 'No mandatory input', th: 'ไม่มีข้อมูลเข้าที่บังคับ' },
  holders: {
    nobody: { en: 'no claimant', th: 'ไม่มีผู้รับ' },
    me: { en: 'yours', th: 'ของคุณ' },
    other: { en: '{actor}', th: 'ผู้รับ {actor}' },
    late: { en: '{actor}, claim run out', th: '{actor} หมดเวลารับงาน' },
  },

  of: { en: 'Task {task}', th: 'งาน {task}' },
  description: { en: 'What is to be done', th: 'สิ่งที่ต้องทำ' },
  document: { en: 'Document to write', th: 'เอกสารที่ต้องเขียน' },
  generator: { en: 'Generator', th: 'ตัวสร้าง' },
  status: { en: 'Status', th: 'สถานะ' },
  claimedBy: { en: 'Claimed by', th: 'รับโดย' },
  leaseUntil: { en: 'Claim ends', th: 'หมดเวลารับงาน' },
  leaseNone: { en: 'never', th: 'ไม่มีกำหนด' },
  created: { en: 'Created', th: 'สร้างเมื่อ' },
  started: { en: 'Started', th: 'เริ่มเมื่อ' },
  completedAt: { en: 'Completed', th: 'เสร็จเมื่อ' },
  correlation: { en: 'Correlation id', th: 'รหัสเชื่อมโยง' },
  notes: { en: 'Completion notes', th: 'บันทึกเมื่อเสร็จ' },
  notesHint: { en: 'What the next person should know. No patient data.', th: 'สิ่งที่คนถัดไปควรรู้ ห้ามใส่ข้อมูลผู้ป่วย' },

  inputs: { en: 'Inputs', th: 'ข้อมูลเข้า' },
  inputsNone: { en: 'This task has no inputs.', th: 'งานนี้ไม่มีข้อมูลเข้า' },
  classes: {
    mandatory: { en: 'mandatory', th: 'บังคับ' },
    recommended: { en: 'recommended', th: 'แนะนำ' },
    conditional: { en: 'conditional', th: 'ตามเงื่อนไข' },
  },
  statusThen: { en: '{status} when the task was made', th: '{status} ตอนสร้างงาน' },
  asPage: { en: 'Open as a page', th: 'เปิดเป็นหน้า' },
  textOf: { en: 'Text of {document}', th: 'ข้อความของ {document}' },

  start: { en: 'Start', th: 'เริ่มทำ' },
  renew: { en: 'Renew the claim', th: 'ต่อเวลารับงาน' },
  complete: { en: 'Complete', th: 'ทำเสร็จแล้ว' },
  reset: { en: 'Put back', th: 'คืนงาน' },
  startHint: {
    en: 'Started by hand, a task has no claimant and no time limit. To hold it under your name, claim the next task.',
    th: 'งานที่เริ่มเองไม่มีผู้รับและไม่มีกำหนดเวลา หากต้องการถืองานในชื่อของคุณ ให้กดรับงานถัดไป',
  },
  othersClaim: {
    en: '{actor} works on this. Putting it back takes it away from them.',
    th: '{actor} กำลังทำงานนี้ การคืนงานคือการเอางานออกจากผู้นั้น',
  },
  doneToasts: {
    start: { en: '{task} is in progress', th: '{task} กำลังทำ' },
    renew: { en: 'The claim on {task} is renewed', th: 'ต่อเวลารับงาน {task} แล้ว' },
    complete: { en: '{task} is completed', th: '{task} เสร็จแล้ว' },
    reset: { en: '{task} is pending again', th: '{task} กลับไปรอรับแล้ว' },
  },
} as const;
