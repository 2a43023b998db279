// Reads a unified diff into lines with their numbers on both sides. Pure.

export type DiffLine =
  | { is: 'same'; text: string; old: number; new: number }
  | { is: 'removed'; text: string; old: number }
  | { is: 'added'; text: string; new: number };

export interface Hunk {
  /** `@@ -1,3 +1,4 @@` */
  head: string;
  lines: DiffLine[];
}

const HEAD = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function parseDiff(text: string): Hunk[] {
  const hunks: Hunk[] = [];
  let [old, now] = [0, 0];
  for (const row of text.split('\n')) {
    const head = HEAD.exec(row);
    if (head) {
      [old, now] = [Number(head[1]), Number(head[2])];
      hunks.push({ head: head[0], lines: [] });
      continue;
    }
    const lines = hunks.at(-1)?.lines;
    const line = row.slice(1);
    if (row.startsWith('+')) lines?.push({ is: 'added', text: line, new: now++ });
    else if (row.startsWith('-')) lines?.push({ is: 'removed', text: line, old: old++ });
    else if (row.startsWith(' ')) lines?.push({ is: 'same', text: line, old: old++, new: now++ });
    // What is left is `\ No newline at end of file` and the end of the text.
  }
  return hunks;
}
