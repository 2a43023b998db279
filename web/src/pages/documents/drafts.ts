// Texts that are being written, for as long as this tab is open. In memory only: a document may speak of patients.

const DRAFTS_MAX = 20;

const drafts = new Map<string, string>();

export function readDraft(key: string): string | undefined {
  return drafts.get(key);
}

export function keepDraft(key: string, text: string): void {
  drafts.delete(key);
  drafts.set(key, text);
  const [oldest] = drafts.keys();
  if (drafts.size > DRAFTS_MAX && oldest !== undefined) drafts.delete(oldest);
}

export function dropDraft(key: string): void {
  drafts.delete(key);
}
