// Herbs as the record has them, and everything that one page tells of one herb.

import type { Client, Output } from '../../api/client.ts';
import type { ListPage } from '../../api/pages.ts';
import { noteOf } from '../../evidence/note.ts';
import {
  checkOf,
  type DocumentRecord,
  documentOf,
  type EdgeRecord,
  edgeOf,
  type Name,
  type NodeRecord,
  nodeOf,
  readByIds,
  readPage,
  type RecordPage,
} from '../../evidence/record.ts';
import { documentIdOf } from '../../evidence/reference.ts';
import { type Check, type Relation, standingOf } from '../../evidence/standing.ts';

type Contraindications = Output<'find_contraindications'>;
export type Against = Contraindications['results'][number];

export interface ListedHerb {
  node: NodeRecord;
  hasMonograph: boolean;
}

const MONOGRAPH = 'monograph:';
const MONOGRAPH_ID = /^monograph:(.+):([a-z]{2})$/;
/** Pages of a thousand nodes that one press looks through. */
const PAGES_AT_ONCE = 5;

export const monographId = (herb: string, lang: string) => `${MONOGRAPH}${herb}:${lang}`;

export function isHerb({ categories }: Pick<NodeRecord, 'categories'>): boolean {
  return categories.includes('herb');
}

/** Things that have a monograph. Their documents stand together in the order of ids. */
async function readMonographed(client: Client, signal: AbortSignal): Promise<Set<string>> {
  const ids = new Set<string>();
  let cursor: string | undefined = MONOGRAPH;
  for (let n_pages = 0; cursor !== undefined && n_pages < PAGES_AT_ONCE; n_pages += 1) {
    const page: RecordPage<DocumentRecord> = await readPage(client, 'document', cursor, documentOf, signal);
    for (const { id } of page.records) {
      const herb = MONOGRAPH_ID.exec(id)?.[1];
      if (herb !== undefined) ids.add(herb);
    }
    cursor = page.records.at(-1)?.id.startsWith(MONOGRAPH) ? page.next : undefined;
  }
  return ids;
}

/**
 * The record has no list by type. Herbs with a monograph are found through it, so that they come first however much else
 * was imported; the others by looking through the nodes, a few thousand at a time.
 */
export async function readHerbs(client: Client, cursor: string | undefined, signal: AbortSignal): Promise<ListPage<ListedHerb>> {
  const monographed = cursor === undefined ? await readMonographed(client, signal) : new Set<string>();
  const known = monographed.size > 0 ? await readByIds(client, 'node', monographed, nodeOf, signal) : [];
  const found = new Map(known.filter(isHerb).map((node) => [node.id, { node, hasMonograph: true }]));
  let next = cursor;
  for (let n_pages = 0; n_pages < PAGES_AT_ONCE; n_pages += 1) {
    const page = await readPage(client, 'node', next, nodeOf, signal);
    for (const node of page.records.filter(isHerb)) {
      if (!found.has(node.id)) found.set(node.id, { node, hasMonograph: monographed.has(node.id) });
    }
    next = page.next;
    if (next === undefined) break;
  }
  return { items: [...found.values()], next };
}

/** Each herb once, by its name in the language. */
export function inOrder(herbs: readonly ListedHerb[], nameOf: (names: readonly Name[], id: string) => string, language: string): ListedHerb[] {
  const once = new Map<string, ListedHerb>();
  for (const herb of herbs) if (!once.has(herb.node.id)) once.set(herb.node.id, herb);
  const order = new Intl.Collator(language);
  return [...once.values()].sort((a, b) => order.compare(nameOf(a.node.names, a.node.id), nameOf(b.node.names, b.node.id)));
}

export function isNamed({ node }: ListedHerb, word: string): boolean {
  const wanted = word.trim().toLowerCase();
  return node.id.toLowerCase().includes(wanted) || node.names.some(({ text }) => text.toLowerCase().includes(wanted));
}

export interface HerbPicture {
  node: Output<'read_node'>;
  monographs: DocumentRecord[];
  /** Only herbs and formulations are asked about. */
  isAskedAbout: boolean;
  against: Against[];
  isMoreAgainst: boolean;
  /** Ingredients of which nothing is known. */
  notCovered: NonNullable<Contraindications['not_covered']>;
  /** What is known here, with nothing recorded against it. */
  noRecord: string[];
  /** What the answers leave out. */
  notes: string[];
  /** Everything that is said of it and not against it. */
  facts: Relation[];
  edges: ReadonlyMap<string, EdgeRecord>;
  names: ReadonlyMap<string, readonly Name[]>;
  papers: DocumentRecord[];
}

/** Every statement has a row and grounds of its own, also where several state the same pair. */
function statements({ also = [], ...first }: Against): Against[] {
  const { entity_id, type, entity_label, contraindication, contraindication_id, inherited_from } = first;
  const pair = { entity_id, type, entity_label, contraindication, contraindication_id };
  const inherited = inherited_from === undefined ? {} : { inherited_from };
  return [first, ...also.map((other) => ({ ...pair, ...inherited, ...other }))];
}

export async function readHerb(client: Client, word: string, signal: AbortSignal): Promise<HerbPicture> {
  const node = await client.call('read_node', { curie: word }, { signal });
  const field = node.categories.includes('formulation') ? 'formulation_ids' : 'herb_ids';
  const isEither = node.categories.includes('herb') || field === 'formulation_ids';
  const answer = isEither ? await client.call('find_contraindications', { [field]: [node.id], detail: 'full' }, { signal }) : undefined;
  const results = answer?.results.flatMap(statements) ?? [];
  const edgeIds = [...node.relations, ...results].flatMap(({ edge_id }) => edge_id ?? []);
  const ends = [...node.relations, ...results].flatMap(othersIn);
  const [monographs, edges, neighbours] = await Promise.all([
    readByIds(client, 'document', [monographId(node.id, 'th'), monographId(node.id, 'en')], documentOf, signal),
    readByIds(client, 'edge', edgeIds, edgeOf, signal),
    readByIds(client, 'node', ends, nodeOf, signal),
  ]);
  const papers = await readByIds(client, 'document', paperIds(edges, monographs), documentOf, signal);
  const isAgainst = new Set(results.map(({ edge_id }) => edge_id));
  return {
    node,
    monographs,
    isAskedAbout: isEither,
    against: results,
    isMoreAgainst: answer?.truncated ?? false,
    notCovered: answer?.not_covered ?? [],
    noRecord: answer?.no_record ?? [],
    notes: [...new Set([noteOf(node), noteOf(answer)])].filter((note) => note !== undefined),
    facts: node.relations.filter(({ edge_id }) => !isAgainst.has(edge_id)),
    edges: new Map(edges.map((edge) => [edge.id, edge])),
    names: new Map(neighbours.map(({ id, names }) => [id, names])),
    papers,
  };
}

/** The nodes that a row names. */
function othersIn(row: Against | Relation): string[] {
  const named = 'evidence' in row ? [row.entity_id, row.contraindication_id, row.inherited_from] : [row.id];
  return [...named, row.same_as?.id].filter((id) => id != null);
}

/** Who says that what a row is inherited from belongs to the herb or formulation. */
export function whoseList({ facts }: Pick<HerbPicture, 'facts'>, { inherited_from }: Against): string[] {
  return [...new Set(facts.filter(({ id }) => id === inherited_from).map(({ source }) => source))];
}

export interface Ground {
  check: Check;
  /** What the answer says of the way a warning came here, in its words. */
  way: string;
  /** Its words as a whole, where the record of the edge does not have them. */
  whole: string | undefined;
}

/** The answer's words are those of the edge, after what must be known of them first. */
export function groundOf(row: Against | Relation, edge: EdgeRecord | undefined): Ground {
  const stated = checkOf(edge?.qualifiers ?? {}).isVerified;
  if (!('evidence' in row)) return { check: standingOf(row, stated), way: '', whole: undefined };
  const passages = edge?.evidence ?? [];
  const texts = passages.flatMap(({ text }) => text ?? []);
  const references = passages.flatMap(({ reference }) => reference ?? []);
  const own = (texts.length > 0 ? texts : references).join('; ') || `stated by ${row.source}`;
  if (edge === undefined || !row.evidence.endsWith(own)) return { check: standingOf(row, stated), way: '', whole: row.evidence };
  const before = row.evidence.slice(0, row.evidence.length - own.length);
  // Retractions are shown with the references.
  const retracted = row.retracted?.[0] ? before.indexOf(`[${row.retracted[0].status}: `) : -1;
  const way = (retracted < 0 ? before : before.slice(0, retracted)).trim();
  return { check: standingOf(row, stated, way !== ''), way, whole: undefined };
}

const PMIDS = /PMID:[1-9][0-9]{0,7}/g;

/** What the facts point to, and what the monographs name. */
export function paperIds(edges: readonly EdgeRecord[], monographs: readonly DocumentRecord[]): string[] {
  const pointed = edges.flatMap(({ evidence }) => evidence.flatMap(({ reference }) => (reference ? (documentIdOf(reference) ?? []) : [])));
  const named = monographs.flatMap(({ attributes, links, text }) => JSON.stringify([attributes, links, text]).match(PMIDS) ?? []);
  return [...new Set([...pointed, ...named])];
}

/** Rows of the page that nobody verified, or not the way by which they came there. */
export function nUnverified({ against, facts, edges }: Pick<HerbPicture, 'against' | 'facts' | 'edges'>): number {
  return [...against, ...facts].filter((row) => groundOf(row, edges.get(row.edge_id ?? '')).check.isVerified === false).length;
}
