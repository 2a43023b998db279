// Words of the shared components.

export const parts = {
  copy: { en: 'Copy', th: 'คัดลอก' },
  copied: { en: 'Copied', th: 'คัดลอกแล้ว' },
  copyFailed: { en: 'The browser did not allow copying', th: 'เบราว์เซอร์ไม่อนุญาตให้คัดลอก' },
  copyOf: { en: 'Copy {what}', th: 'คัดลอก {what}' },
  close: { en: 'Close', th: 'ปิด' },
  cancel: { en: 'Cancel', th: 'ยกเลิก' },
  tryAgain: { en: 'Try again', th: 'ลองอีกครั้ง' },
  loading: { en: 'Loading', th: 'กำลังโหลด' },
  add: { en: 'Add', th: 'เพิ่ม' },
  remove: { en: 'Remove {word}', th: 'นำ {word} ออก' },
  more: { en: 'Load more', th: 'โหลดเพิ่ม' },
  notifications: { en: 'Notifications', th: 'การแจ้งเตือน' },
  dismiss: { en: 'Dismiss', th: 'ปิดการแจ้งเตือน' },
  optional: { en: 'optional', th: 'ไม่บังคับ' },
  timesIn: { en: 'Times are in {zone}', th: 'เวลาแสดงตามเขต {zone}' },

  notServedTitle: { en: 'Not served by this version', th: 'รุ่นนี้ยังไม่เปิดให้ใช้' },
  notServedBody: {
    en: 'This page needs the operation {operation}, which this server does not have. A newer version of Materia will show it here; nothing is wrong with your data.',
    th: 'หน้านี้ต้องใช้คำสั่ง {operation} ซึ่งเซิร์ฟเวอร์นี้ยังไม่มี Materia รุ่นใหม่กว่าจะแสดงที่นี่ ข้อมูลของคุณไม่มีปัญหาใด',
  },

  code: { en: 'Code', th: 'รหัส' },
  serverSays: { en: 'The server says', th: 'เซิร์ฟเวอร์แจ้งว่า' },
  field: { en: 'Field', th: 'ช่องข้อมูล' },
  expected: { en: 'Expected', th: 'ค่าที่ต้องการ' },
  scope: { en: 'Scope needed', th: 'ขอบเขตที่ต้องมี' },
  callId: { en: 'Call', th: 'รหัสการเรียก' },
  reference: { en: 'Reference', th: 'เลขอ้างอิง' },
  findCall: { en: 'Find this call in the audit log', th: 'ค้นหาการเรียกนี้ในบันทึกการตรวจสอบ' },
  retryAfter: { en: 'Wait {seconds} s, then try again.', th: 'รอ {seconds} วินาที แล้วลองอีกครั้ง' },
} as const;

/** What happened and what to do, by the code of an error. */
export const errors = {
  OFFLINE: {
    title: { en: 'The server does not answer', th: 'เซิร์ฟเวอร์ไม่ตอบ' },
    advice: {
      en: 'Is it still running? Look at its terminal or its service log, then try again.',
      th: 'เซิร์ฟเวอร์ยังทำงานอยู่หรือไม่ ดูที่เทอร์มินัลหรือบันทึกของบริการ แล้วลองอีกครั้ง',
    },
  },
  UNAUTHENTICATED: {
    title: { en: 'You are not signed in', th: 'คุณยังไม่ได้เข้าใช้งาน' },
    advice: { en: 'Sign in again.', th: 'โปรดเข้าใช้งานอีกครั้ง' },
  },
  DENIED: {
    title: { en: 'You may not do this', th: 'คุณไม่มีสิทธิ์ทำรายการนี้' },
    advice: {
      en: 'Your roles or scopes do not allow it. Ask an administrator for a key with the right role.',
      th: 'บทบาทหรือขอบเขตของคุณไม่อนุญาต โปรดขอคีย์ที่มีบทบาทที่ถูกต้องจากผู้ดูแลระบบ',
    },
  },
  NOT_FOUND: {
    title: { en: 'Not found', th: 'ไม่พบข้อมูล' },
    advice: {
      en: 'It does not exist, or not for you. Check the id.',
      th: 'ไม่มีข้อมูลนี้ หรือไม่ได้เปิดให้คุณดู โปรดตรวจสอบรหัส',
    },
  },
  INVALID_ARG: {
    title: { en: 'The input was not accepted', th: 'ข้อมูลที่ส่งไม่ถูกต้อง' },
    advice: { en: 'Correct the field that is named here and send again.', th: 'แก้ไขช่องที่ระบุไว้ แล้วส่งอีกครั้ง' },
  },
  CONFLICT: {
    title: { en: 'The present state does not allow this', th: 'สถานะปัจจุบันไม่อนุญาตให้ทำรายการนี้' },
    advice: {
      en: 'Nothing was changed. What the server says tells why; load the page again to see the present state.',
      th: 'ไม่มีสิ่งใดเปลี่ยนแปลง เหตุผลอยู่ในข้อความที่เซิร์ฟเวอร์แจ้ง โหลดหน้าใหม่เพื่อดูสถานะปัจจุบัน',
    },
  },
  BUSY: {
    title: { en: 'The server is busy', th: 'เซิร์ฟเวอร์ไม่ว่าง' },
    advice: { en: 'Nothing was done. Try again in a moment.', th: 'ยังไม่มีการดำเนินการใด โปรดลองอีกครั้งในอีกสักครู่' },
  },
  TIMEOUT: {
    title: { en: 'It took too long', th: 'ใช้เวลานานเกินไป' },
    advice: { en: 'Ask for less at once, or try again later.', th: 'ขอข้อมูลครั้งละน้อยลง หรือลองใหม่ภายหลัง' },
  },
  UPSTREAM: {
    title: { en: 'A service behind the server failed', th: 'บริการเบื้องหลังเซิร์ฟเวอร์ขัดข้อง' },
    advice: { en: 'Try again later, or tell your administrator.', th: 'ลองใหม่ภายหลัง หรือแจ้งผู้ดูแลระบบ' },
  },
  TOO_LARGE: {
    title: { en: 'That is too much at once', th: 'ข้อมูลมากเกินไปในครั้งเดียว' },
    advice: { en: 'Send less.', th: 'ส่งข้อมูลให้น้อยลง' },
  },
  INTERNAL: {
    title: { en: 'Something went wrong on the server', th: 'เกิดข้อผิดพลาดที่เซิร์ฟเวอร์' },
    advice: {
      en: 'It is not your fault. Give the reference below to your administrator: the log has more under it.',
      th: 'ไม่ใช่ความผิดของคุณ โปรดแจ้งเลขอ้างอิงด้านล่างแก่ผู้ดูแลระบบ ซึ่งในบันทึกมีรายละเอียดเพิ่มเติม',
    },
  },
} as const;
