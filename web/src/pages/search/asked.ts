// What is asked of `hybrid_search`, and what its answer says beside the hits. Pure.

import type { Input, Output } from '../../api/client.ts';

export type Hit = Output<'hybrid_search'>['hits'][number];
export type NameLanguage = 'auto' | 'th' | 'en';

/** What stands in the form. Numbers are as they were typed. */
export interface Asked {
  query: string;
  lang: NameLanguage;
  top_k: string;
  types: string[];
  sources: string[];
  categories: string[];
  text_lang: '' | 'th' | 'en';
  year_from: string;
  year_to: string;
  without_retracted: boolean;
}

export const NOTHING_ASKED: Asked = {
  query: '',
  lang: 'auto',
  top_k: '10',
  types: [],
  sources: [],
  categories: [],
  text_lang: '',
  year_from: '',
  year_to: '',
  without_retracted: false,
};

export type Wrong = Partial<Record<'query' | 'top_k' | 'year_from' | 'year_to' | 'year_order', true>>;

function whole(text: string, from: number, to: number): number | undefined {
  const value = /^[0-9]{1,4}$/.test(text.trim()) ? Number(text.trim()) : Number.NaN;
  return value >= from && value <= to ? value : undefined;
}

/** What must be mended before it can be sent; empty when nothing must. */
export function wrongOf(asked: Asked): Wrong {
  const from = whole(asked.year_from, 0, 9_999);
  const to = whole(asked.year_to, 0, 9_999);
  return {
    ...(asked.query.trim() === '' ? { query: true as const } : {}),
    ...(whole(asked.top_k, 1, 100) === undefined ? { top_k: true as const } : {}),
    ...(asked.year_from.trim() !== '' && from === undefined ? { year_from: true as const } : {}),
    ...(asked.year_to.trim() !== '' && to === undefined ? { year_to: true as const } : {}),
    ...(from !== undefined && to !== undefined && from > to ? { year_order: true as const } : {}),
  };
}

export function inputOf(asked: Asked): Input<'hybrid_search'> {
  const year_from = whole(asked.year_from, 0, 9_999);
  const year_to = whole(asked.year_to, 0, 9_999);
  const filters = {
    ...(asked.types.length > 0 ? { type: asked.types } : {}),
    ...(asked.sources.length > 0 ? { source: asked.sources } : {}),
    ...(asked.categories.length > 0 ? { category: asked.categories } : {}),
    ...(asked.text_lang ? { lang: [asked.text_lang] } : {}),
    ...(year_from === undefined ? {} : { year_from }),
    ...(year_to === undefined ? {} : { year_to }),
    ...(asked.without_retracted ? { without_retracted: true } : {}),
  };
  return {
    query: asked.query.trim(),
    lang: asked.lang,
    top_k: whole(asked.top_k, 1, 100) ?? 10,
    ...(Object.keys(filters).length > 0 ? { filters } : {}),
  };
}

export function nFilters(asked: Asked): number {
  return Object.keys(inputOf(asked).filters ?? {}).length;
}

/** Why a hit was found. A part that did not play is absent. */
export interface Reason {
  bm25: number | undefined;
  vector: number | undefined;
  /** Nodes that both the question and the hit name. */
  entities: string[];
}

export interface Remarks {
  reasons: ReadonlyMap<string, Reason>;
  /** Whether the meaning of the question was searched for. */
  hasVectors: boolean;
  /** Why its meaning was not searched for, as far as the server tells. */
  without: 'no_model' | 'unusable' | 'other';
  /** What is wrong with the model that was chosen. */
  fault: string;
  /** What the server says beside the hits, where no words of ours do. */
  message: string | undefined;
}

const NO_MODEL = 'No embedding model is in use';
const UNUSABLE = /^The embedding model that was chosen cannot be used \(([\s\S]*?)\): words and names alone/;

/** Two of its sentences are known in every language; any other is shown as it is. */
function causeOf(message: string | undefined, hasModel: boolean): Pick<Remarks, 'without' | 'fault' | 'message'> {
  const fault = UNUSABLE.exec(message ?? '')?.[1];
  if (fault !== undefined) return { without: 'unusable', fault, message: undefined };
  if (!hasModel && (message === undefined || message.startsWith(NO_MODEL))) return { without: 'no_model', fault: '', message: undefined };
  return { without: 'other', fault: '', message };
}

const share = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : undefined;

/** `metadata` of an answer. It is no part of the contract's types, so nothing in it is taken for granted. */
export function remarksOf(answer: unknown): Remarks {
  const metadata = (answer as { metadata?: Record<string, unknown> } | null)?.metadata ?? {};
  const list = Array.isArray(metadata['reasons']) ? (metadata['reasons'] as Record<string, unknown>[]) : [];
  const reasons = list.map((one): [string, Reason] => [
    String(one?.['id']),
    {
      bm25: share(one?.['bm25']),
      vector: share(one?.['vector']),
      entities: Array.isArray(one?.['entity']) ? one['entity'].map(String) : [],
    },
  ]);
  const message = typeof metadata['message'] === 'string' && metadata['message'] !== '' ? metadata['message'] : undefined;
  return { reasons: new Map(reasons), hasVectors: metadata['vectors'] === true, ...causeOf(message, typeof metadata['model'] === 'string') };
}

export interface Piece {
  text: string;
  isMatch: boolean;
}

/** A text cut at its matches, whose places are counted in characters and not in JavaScript's halves of them. */
export function cutMatches(text: string, matches: readonly { start: number; end: number }[]): Piece[] {
  const characters = Array.from(text);
  const isMatched = new Array<boolean>(characters.length).fill(false);
  for (const { start, end } of matches) isMatched.fill(true, Math.max(0, start), Math.max(0, end));
  const pieces: Piece[] = [];
  for (const [at, character] of characters.entries()) {
    const isMatch = isMatched[at] ?? false;
    const last = pieces.at(-1);
    if (last?.isMatch === isMatch) last.text += character;
    else pieces.push({ text: character, isMatch });
  }
  return pieces;
}

/** Lines and headings of a text as one line. */
export function inOneLine(text: string): string {
  return text.replaceAll(/^#{1,6}\s+/g, '').replaceAll(/\s*\n\s*(?:#{1,6}\s+)?/g, ' · ');
}

/** Only documents can be cited and read; a node may stand for a paper, and is none. */
export function isDocument(hit: Hit): boolean {
  return hit.record === 'document';
}
