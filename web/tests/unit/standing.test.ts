// Whether a statement stands: what an answer says of it counts, and not what its edge says of itself.

import { describe, expect, test } from 'vitest';
import type { Client, Output } from '../../src/api/client.ts';
import { noteOf } from '../../src/evidence/note.ts';
import { edgeOf } from '../../src/evidence/record.ts';
import { type Relation, standingOf } from '../../src/evidence/standing.ts';
import { readTold } from '../../src/graph/told.ts';
import { type Against, groundOf, nUnverified, readHerb, whoseList } from '../../src/pages/herbs/herbs.ts';

const against = (changes: Partial<Against>): Against => ({
  entity_id: 'f',
  type: 'formulation',
  entity_label: 'f',
  contraindication: 'c',
  contraindication_id: 'c',
  predicate: 'contraindicated_in',
  evidence: 'Page 1; Page 2',
  verified: true,
  references: [],
  edge_id: 'e',
  source: 's',
  licence: 'CC0-1.0',
  ...changes,
});

const relation = (changes: Partial<Relation>): Relation => ({ predicate: 'contains', id: 'h', type: 'herb', label: 'h', edge_id: 'r', source: 'stranger', verified: false, ...changes });

const edge = edgeOf({ id: 'e', evidence: [{ text: 'Page 1' }, { text: 'Page 2', reference: 'SYN:1' }], qualifiers: { verified: true } });
const same = { id: 'h', source: 'stranger', verified: false };

describe('a statement is verified', () => {
  test.each([
    ['where the answer says so', { verified: true }, true, false, true, false],
    ['only if its identity is', { verified: true, same_as: same }, true, false, false, true],
    ['never by its edge alone', { verified: false }, true, false, false, false],
    ['never by a way that is doubted', { verified: false }, true, true, false, true],
    ['or nobody said so', { verified: false }, undefined, false, undefined, false],
    ['but what is doubted on the way is not', { verified: false }, undefined, true, false, false],
  ] as const)('%s', (_, told, stated, isDoubted, isVerified, isWayDoubted) => {
    expect(standingOf(told, stated, isDoubted)).toEqual({ isVerified, isWayDoubted });
  });
});

describe('the words of a warning', () => {
  test.each([
    ['', ''],
    ['(ingredient not verified) ', '(ingredient not verified)'],
    ['(h is the same by stranger, not verified) (ingredient not verified) ', '(h is the same by stranger, not verified) (ingredient not verified)'],
  ])('after «%s» are those of the edge', (before, way) => {
    const row = against({ evidence: `${before}Page 1; Page 2`, verified: way === '' });
    expect(groundOf(row, edge)).toMatchObject({ way, whole: undefined, check: { isVerified: way === '', isWayDoubted: way !== '' } });
  });

  test('tell of retractions once', () => {
    const retracted = [{ reference: 'SYN:1', status: 'expression of concern' }];
    const row = against({ evidence: '(kind not verified) [expression of concern: `SYN:1` (by `s`)] Page 1; Page 2', verified: false, retracted });
    expect(groundOf(row, edge).way).toBe('(kind not verified)');
  });

  test('are shown as they are where the edge has others, or is gone', () => {
    const row = against({ evidence: '(ingredient not verified) Page 3', verified: false });
    expect(groundOf(row, edge).whole).toBe(row.evidence);
    expect(groundOf(row, undefined).whole).toBe(row.evidence);
  });
});

test('rows are counted as unverified by what the answer says of them', () => {
  const edges = new Map([['e', edge], ['r', edgeOf({ id: 'r' })]]);
  const doubted = against({ evidence: '(ingredient not verified) Page 1; Page 2', verified: false });
  expect(nUnverified({ against: [against({}), doubted], facts: [relation({})], edges })).toBe(1);
  expect(whoseList({ facts: [relation({}), relation({ id: 'x', source: 'other' })] }, against({ inherited_from: 'h' }))).toEqual(['stranger']);
});

/** Answers of a server, by operation. */
const clientOf = (answers: Record<string, (input: Record<string, unknown>) => unknown>): Client =>
  ({ call: (name: string, input: Record<string, unknown>) => Promise.resolve(answers[name]?.(input)) }) as unknown as Client;

const { signal } = new AbortController();

test('a page of a formulation keeps what is not covered, has no record, and the notes', async () => {
  const node = { id: 'f', categories: ['formulation'], relations: [relation({ id: 'h' })], metadata: { note: 'of the node' } };
  const also = { ...against({ edge_id: 'e2', evidence: '(ingredient not verified) x', verified: false }) } as NonNullable<Against['also']>[number];
  const answer = { results: [against({ inherited_from: 'h', also: [also] })], no_record: ['g'], not_covered: [{ entity_id: 'f', ingredient: 'mace' }], note: 'of the answer', truncated: true };
  const picture = await readHerb(clientOf({ read_node: () => node, find_contraindications: () => answer, read_records: () => ({ records: [] }) }), 'f', signal);
  expect(picture).toMatchObject({ isAskedAbout: true, isMoreAgainst: true, noRecord: ['g'], notCovered: answer.not_covered, notes: ['of the node', 'of the answer'] });
  expect(picture.against.map(({ verified, inherited_from }) => [verified, inherited_from])).toEqual([[true, 'h'], [false, 'h']]);
});

test('what is neither herb nor formulation is not said to have nothing against it', async () => {
  const node = { id: 'd', categories: ['drug'], relations: [] };
  expect(await readHerb(clientOf({ read_node: () => node, read_records: () => ({ records: [] }) }), 'd', signal)).toMatchObject({ isAskedAbout: false, against: [] });
});

test('a statement is looked for at both ends', async () => {
  const line = { id: 'e', subject: 'a', predicate: 'p', object: 'b', source: 's', strength: undefined };
  const told = relation({ edge_id: 'e' });
  const client = clientOf({ read_node: ({ curie }) => ({ relations: curie === 'b' ? [told] : [] }) as unknown as Output<'read_node'> });
  expect(await readTold(client, line, signal)).toBe(told);
  expect(await readTold(client, { ...line, object: 'a' }, signal)).toBeNull();
});

test('a note is found in the answer or beside it', () => {
  expect([{ note: 'a' }, { metadata: { note: 'b' } }, { note: null }, { metadata: {} }, null].map(noteOf)).toEqual(['a', 'b', undefined, undefined, undefined]);
});
