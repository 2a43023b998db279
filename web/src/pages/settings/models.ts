// What an answer of `hybrid_search` tells of the models and dictionaries that search works with. Pure.

import { remarksOf } from '../search/asked.ts';

export type ModelState =
  | { is: 'in_use'; name: string; hasAnswered: boolean; message: string | undefined }
  | { is: 'unusable'; fault: string }
  | { is: 'none' };

export interface SearchParts {
  model: ModelState;
  /** Texts that have no vector of the model in use yet. */
  nMissing: number;
  /** Absent where the server does not tell. */
  hasLexica: boolean | undefined;
}

/** `metadata` is no part of the contract's types, so nothing in it is taken for granted. */
export function searchPartsOf(answer: unknown): SearchParts {
  const metadata = (answer as { metadata?: Record<string, unknown> } | null)?.metadata ?? {};
  const { model: name, vectors_missing: missing, lexicon } = metadata;
  const { hasVectors, without, fault, message } = remarksOf(answer);
  const isMissing = typeof missing === 'number' && Number.isFinite(missing) && missing > 0;
  return {
    model: modelOf(),
    nMissing: isMissing ? missing : 0,
    hasLexica: typeof lexicon === 'boolean' ? lexicon : undefined,
  };

  function modelOf(): ModelState {
    if (typeof name === 'string') return { is: 'in_use', name, hasAnswered: hasVectors, message: hasVectors ? undefined : message };
    return without === 'unusable' ? { is: 'unusable', fault } : { is: 'none' };
  }
}
