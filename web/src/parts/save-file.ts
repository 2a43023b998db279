// Hands something to the browser's downloads.

export function saveFile(name: string, texts: string[], type: string): void {
  saveBlob(name, new Blob(texts, { type }));
}

export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has its own hold on the data by the next task.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
