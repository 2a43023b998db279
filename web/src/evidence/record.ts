// Records as `read_records` gives them. Foreign data: a member that is not what it should be counts as absent.

import type { Client } from '../api/client.ts';

export interface Name {
  text: string;
  lang: string;
}

export interface SourceRecord {
  id: string;
  title: string;
  licence: string;
  uri: string | undefined;
}

export interface NodeRecord {
  id: string;
  categories: string[];
  names: Name[];
  attributes: Readonly<Record<string, unknown>>;
  source: string;
}

export interface EvidenceItem {
  reference: string | undefined;
  text: string | undefined;
}

export interface EdgeRecord {
  id: string;
  subject: string;
  predicate: string;
  object: string;
  strength: string | undefined;
  evidence: EvidenceItem[];
  qualifiers: Readonly<Record<string, unknown>>;
  source: string;
}

export interface DocumentRecord {
  id: string;
  kind: string;
  title: string;
  text: string;
  lang: string;
  authors: string[];
  journal: string | undefined;
  year: number | undefined;
  ids: Readonly<Record<string, unknown>>;
  links: string[];
  /** `source`: whose word it is. */
  retraction: { kind: string; notice: string | undefined; source: string } | undefined;
  attributes: Readonly<Record<string, unknown>>;
  source: string;
}

type Raw = Record<string, unknown>;

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);
const isObject = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value);
const object = (value: unknown): Raw => (isObject(value) ? value : {});
const objects = (value: unknown): Raw[] => (Array.isArray(value) ? value.filter(isObject) : []);

export function sourceOf(raw: Raw): SourceRecord {
  const id = text(raw['id']) ?? '';
  return { id, title: text(raw['title']) ?? id, licence: text(raw['licence']) ?? '', uri: text(raw['uri']) };
}

export function nodeOf(raw: Raw): NodeRecord {
  return {
    id: text(raw['id']) ?? '',
    categories: texts(raw['categories']),
    names: objects(raw['names']).map((name) => ({ text: text(name['text']) ?? '', lang: text(name['lang']) ?? 'und' })),
    attributes: object(raw['attributes']),
    source: text(raw['source']) ?? '',
  };
}

export function edgeOf(raw: Raw): EdgeRecord {
  return {
    id: text(raw['id']) ?? '',
    subject: text(raw['subject']) ?? '',
    predicate: text(raw['predicate']) ?? '',
    object: text(raw['object']) ?? '',
    strength: text(raw['strength']),
    evidence: objects(raw['evidence']).map((one) => ({ reference: text(one['reference']), text: text(one['text']) })),
    qualifiers: object(raw['qualifiers']),
    source: text(raw['source']) ?? '',
  };
}

export function documentOf(raw: Raw): DocumentRecord {
  const retraction = isObject(raw['retraction']) ? raw['retraction'] : undefined;
  return {
    id: text(raw['id']) ?? '',
    kind: text(raw['kind']) ?? '',
    title: text(raw['title']) ?? '',
    text: text(raw['text']) ?? '',
    lang: text(raw['lang']) ?? 'und',
    authors: objects(raw['authors']).map((author) =>
      [text(author['last']), text(author['initials']) ?? text(author['fore'])].filter(Boolean).join(' '),
    ),
    journal: text(raw['journal']),
    year: typeof raw['year'] === 'number' ? raw['year'] : undefined,
    ids: object(raw['ids']),
    links: texts(raw['links']),
    retraction: retraction && {
      kind: text(retraction['kind']) ?? '',
      notice: text(retraction['notice']),
      source: text(retraction['source']) ?? text(raw['source']) ?? '',
    },
    attributes: object(raw['attributes']),
    source: text(raw['source']) ?? '',
  };
}

/** What somebody said about the checking of a fact. Nothing said is not the same as `false`. */
export function checkOf(members: Readonly<Record<string, unknown>>): { isVerified: boolean | undefined; reviewed: string | undefined } {
  const { verified, reviewed } = members;
  return { isVerified: typeof verified === 'boolean' ? verified : undefined, reviewed: text(reviewed) };
}

/** Words of an attribute: a text, several, or one in each language. */
export function wordsOf(value: unknown, language: string): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap((one) => wordsOf(one, language));
  if (typeof value !== 'object' || value === null) return [];
  const said = value as Record<string, unknown>;
  return wordsOf(said[language] ?? said['en'] ?? Object.values(said)[0], language);
}

/** The first name in the language, else in English, else whatever there is. */
export function nameIn(language: string, names: readonly Name[], otherwise: string): string {
  const inLanguage = (lang: string) => names.find((name) => name.lang === lang)?.text;
  return inLanguage(language) ?? inLanguage('en') ?? names[0]?.text ?? otherwise;
}

/** What one call of the server takes. */
const IDS_MAX = 1_000;

type Kind = 'source' | 'node' | 'edge' | 'document';

/** Those of the ids that are in the record. */
export async function readByIds<T>(client: Client, kind: Kind, ids: Iterable<string>, parse: (raw: Raw) => T, signal?: AbortSignal): Promise<T[]> {
  const wanted = [...new Set(ids)];
  const found: T[] = [];
  for (let at = 0; at < wanted.length; at += IDS_MAX) {
    const { records } = await client.call('read_records', { kind, ids: wanted.slice(at, at + IDS_MAX) }, signal ? { signal } : {});
    found.push(...records.map(parse));
  }
  return found;
}

export interface RecordPage<T> {
  records: T[];
  next: string | undefined;
}

export async function readPage<T>(
  client: Client,
  kind: Kind,
  cursor: string | undefined,
  parse: (raw: Raw) => T,
  signal?: AbortSignal,
): Promise<RecordPage<T>> {
  const input = { kind, limit: IDS_MAX, ...(cursor ? { cursor } : {}) };
  const { records, next_cursor } = await client.call('read_records', input, signal ? { signal } : {});
  return { records: records.map(parse), next: next_cursor ?? undefined };
}
