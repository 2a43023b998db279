// What can be read off the text of a document, for the convenience of its author. The server reads it again. Pure.

const ID_FIELD = /^\s*(?:[-*]\s+)?\**(?:[A-Za-z ]+ )?ID:?\**:?\s*\**\s*`?([A-Z]+-\d{3,})\b/m;
const HEADING_ID = /^#\s+([A-Z]+-\d{3,})\b/m;
const VERSION_FIELD = /^(\s*(?:[-*]\s+)?\**Version:?\**:?\s*\**\s*v?)(\d{1,3})\b/im;

/** The id that a text gives itself, or nothing. */
export function guessId(text: string): string {
  return ID_FIELD.exec(text)?.[1] ?? HEADING_ID.exec(text)?.[1] ?? '';
}

/** The text with another version number; the text itself where it has none. */
export function withVersion(text: string, version: number): string {
  return text.replace(VERSION_FIELD, (_, before: string) => before + version);
}

/** Lines begin to count at 1; a line that is not there is the last one. */
export function offsetOfLine(text: string, line: number): { start: number; end: number } {
  const lines = text.split('\n');
  const at = Math.min(Math.max(line, 1), lines.length) - 1;
  const start = lines.slice(0, at).reduce((sum, one) => sum + one.length + 1, 0);
  return { start, end: start + (lines[at]?.length ?? 0) };
}

export type DetailPiece = { is: 'text'; text: string } | { is: 'line'; text: string; line: number };

/** Cuts a finding at the lines it names, so that each can be gone to. */
export function cutLines(details: string): DetailPiece[] {
  return details
    .split(/(\bline \d+)/)
    .filter((text) => text !== '')
    .map((text): DetailPiece => {
      const line = /^line (\d+)$/.exec(text)?.[1];
      return line === undefined ? { is: 'text', text } : { is: 'line', text, line: Number(line) };
    });
}
