// Words around a document that is shown.

export const markdown = {
  table: { en: 'Table', th: 'ตาราง' },
  done: { en: 'Done:', th: 'ทำแล้ว:' },
  open: { en: 'Open:', th: 'ยังไม่ทำ:' },
  newTab: { en: '(opens in a new tab)', th: '(เปิดในแท็บใหม่)' },
  imageNotLoaded: { en: 'Image, not loaded', th: 'ภาพ ไม่ได้โหลด' },
  imageOpen: { en: 'Open the image', th: 'เปิดภาพ' },
} as const;
