// What an answer says beside its results: what they leave out, or that a name means several things.

/** Most answers have it among what is told beside them, which is no part of the contract's types. */
export function noteOf(answer: unknown): string | undefined {
  const { note, metadata } = (answer ?? {}) as { note?: unknown; metadata?: { note?: unknown } | null };
  return [note, metadata?.note].find((one): one is string => typeof one === 'string' && one !== '');
}
