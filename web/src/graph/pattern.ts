// Completion of path patterns such as `herb -contains-> constituent <-contains- herb`. Pure.

export interface Vocabulary {
  kinds: readonly string[];
  predicates: readonly string[];
}

export interface Offer {
  /** What is shown. */
  label: string;
  /** The whole text once it is taken, and where the caret stands then. */
  text: string;
  caret: number;
}

const OFFERS_MAX = 12;

/** Words with other characters stand in backticks. */
const PLAIN = /^[A-Za-z0-9_.:/]+$/;
const WORD = String.raw`(?:\*|\x60[^\x60]*\x60|[A-Za-z0-9_.:/]+)`;
const HOP = String.raw`\s*(?:-\s*${WORD}\s*->|<-\s*${WORD}\s*-)\s*${WORD}`;
const AFTER_KIND = new RegExp(String.raw`^\s*${WORD}(?:${HOP})*\s+$`);
const IN_KIND = new RegExp(String.raw`^(\s*(?:${WORD}(?:${HOP})*\s*(?:-\s*${WORD}\s*->|<-\s*${WORD}\s*-)\s*)?)([A-Za-z0-9_.:/*]*)$`);
const IN_PREDICATE = new RegExp(String.raw`^(\s*${WORD}(?:${HOP})*\s*)(<-|-)\s*([A-Za-z0-9_.:/*]*)$`);

function written(word: string): string {
  return word === '*' || PLAIN.test(word) ? word : `\`${word}\``;
}

function matching(words: readonly string[], partial: string): string[] {
  const wanted = partial.toLowerCase();
  const begins = words.filter((word) => word.toLowerCase().startsWith(wanted));
  const holds = words.filter((word) => !begins.includes(word) && word.toLowerCase().includes(wanted));
  return [...begins, ...holds];
}

/** What could come at the caret. */
export function complete(text: string, caret: number, { kinds, predicates }: Vocabulary): Offer[] {
  const before = text.slice(0, caret);
  const after = text.slice(caret);
  const offer = (label: string, kept: string, added: string): Offer => ({
    label,
    text: kept + added + after.trimStart(),
    caret: kept.length + added.length,
  });
  const arrows = (word: string, kept: string, sign: '-' | '<-') =>
    sign === '-' ? offer(`-${written(word)}->`, kept, `-${written(word)}-> `) : offer(`<-${written(word)}-`, kept, `<-${written(word)}- `);

  const predicate = IN_PREDICATE.exec(before);
  if (predicate) {
    const [, kept = '', sign, partial = ''] = predicate;
    return matching([...predicates, '*'], partial).slice(0, OFFERS_MAX).map((word) => arrows(word, kept, sign === '<-' ? '<-' : '-'));
  }
  if (AFTER_KIND.test(before)) {
    const both = [...predicates, '*'].flatMap((word) => [arrows(word, before, '-'), arrows(word, before, '<-')]);
    return both.slice(0, OFFERS_MAX);
  }
  const kind = IN_KIND.exec(before);
  if (kind === null) return [];
  const [, kept = '', partial = ''] = kind;
  const found = matching([...kinds, '*'], partial).slice(0, OFFERS_MAX);
  // A word that is already whole is not offered again.
  return found.filter((word) => word !== partial || found.length > 1).map((word) => offer(word, kept, `${written(word)} `));
}

/** The type that a pattern begins with, unless it is any. */
export function startOf(pattern: string): string | undefined {
  const first = new RegExp(String.raw`^\s*(${WORD})`).exec(pattern)?.[1];
  return first === undefined || first === '*' ? undefined : first.replaceAll('`', '');
}
