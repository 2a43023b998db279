// What the search page sends, and what it makes of the answer.

import { describe, expect, test } from 'vitest';
import { addressOf, documentIdOf } from '../../src/evidence/reference.ts';
import { checkOf, documentOf, edgeOf, nameIn, nodeOf } from '../../src/evidence/record.ts';
import { type Asked, cutMatches, inOneLine, inputOf, nFilters, NOTHING_ASKED, remarksOf, wrongOf } from '../../src/pages/search/asked.ts';

const asked = (changes: Partial<Asked>): Asked => ({ ...NOTHING_ASKED, query: ' ขิง ', ...changes });

describe('what is asked', () => {
  test('without filters there are none', () => {
    expect(inputOf(asked({}))).toEqual({ query: 'ขิง', lang: 'auto', top_k: 10 });
    expect(nFilters(asked({}))).toBe(0);
  });

  test('every filter of the operation is sent', () => {
    const all = asked({ types: ['paper'], sources: ['pubmed'], categories: ['herb'], text_lang: 'th', year_from: '2001', year_to: '2019', without_retracted: true, top_k: '100', lang: 'en' });
    expect(inputOf(all)).toEqual({
      query: 'ขิง',
      lang: 'en',
      top_k: 100,
      filters: { type: ['paper'], source: ['pubmed'], category: ['herb'], lang: ['th'], year_from: 2001, year_to: 2019, without_retracted: true },
    });
    expect(nFilters(all)).toBe(7);
  });

  test.each([
    [{ query: ' ' }, ['query']],
    [{ top_k: '0' }, ['top_k']],
    [{ top_k: '101' }, ['top_k']],
    [{ top_k: '1.5' }, ['top_k']],
    [{ year_from: 'soon' }, ['year_from']],
    [{ year_from: '2020', year_to: '2019' }, ['year_order']],
    [{ year_from: '2019', year_to: '2019' }, []],
  ] as [Partial<Asked>, string[]][])('%j is wrong in %j', (changes, expected) => {
    expect(Object.keys(wrongOf(asked(changes)))).toEqual(expected);
  });
});

describe('matches', () => {
  test('are counted in characters, and neighbours become one', () => {
    expect(cutMatches('𝛼 ว่านทดสอบ', [{ start: 2, end: 6 }, { start: 6, end: 11 }])).toEqual([
      { text: '𝛼 ', isMatch: false },
      { text: 'ว่านทดสอบ', isMatch: true },
    ]);
  });

  test('that lie outside of the text do no harm', () => {
    expect(cutMatches('ab', [{ start: 1, end: 90 }, { start: -3, end: 0 }])).toEqual([
      { text: 'a', isMatch: false },
      { text: 'b', isMatch: true },
    ]);
    expect(cutMatches('', [{ start: 0, end: 3 }])).toEqual([]);
  });
});

test('a snippet of several lines is shown in one', () => {
  expect(inOneLine('## What it is\n\nA plant.\n\n## Use\n\nNone')).toBe('What it is · A plant. · Use · None');
  expect(inOneLine('5 # 6')).toBe('5 # 6');
});

test('remarks are read, and strange ones are left out', () => {
  const metadata = { vectors: true, model: 'm', reasons: [{ id: 'a', bm25: 0.5, vector: null, entity: ['x'] }, { id: 'b', bm25: 7 }] };
  const { reasons, hasVectors, message } = remarksOf({ metadata });
  expect([hasVectors, message]).toEqual([true, undefined]);
  expect(reasons.get('a')).toEqual({ bm25: 0.5, vector: undefined, entities: ['x'] });
  expect(reasons.get('b')?.bm25).toBe(1);
  for (const strange of [null, {}, { metadata: { reasons: 'none' } }]) expect(remarksOf(strange).reasons.size).toBe(0);
});

test.each([
  [null, 'No embedding model is in use: words and names alone were searched. `materia models pull` gets one.', 'no_model', '', undefined],
  [null, undefined, 'no_model', '', undefined],
  [null, 'The embedding model that was chosen cannot be used (the tokenizer (v2) is damaged): words and names alone were searched. More.', 'unusable', 'the tokenizer (v2) is damaged', undefined],
  [null, 'Nothing of `s1` can be searched.', 'other', '', 'Nothing of `s1` can be searched.'],
  ['m', 'The embedding model failed: words alone were searched.', 'other', '', 'The embedding model failed: words alone were searched.'],
])('with the model %j and «%s» the cause is %s', (model, message, without, fault, shown) => {
  const remarks = remarksOf({ metadata: { vectors: false, model, message } });
  expect([remarks.without, remarks.fault, remarks.message]).toEqual([without, fault, shown]);
});

test.each([
  ['PMID:123', 'https://pubmed.ncbi.nlm.nih.gov/123/'],
  ['10.9999/a.b', 'https://doi.org/10.9999/a.b'],
  ['https://example.org/x', 'https://example.org/x'],
  ['javascript:alert(1)', undefined],
  ['PMID:0', undefined],
  ['SYN:1', undefined],
])('%s leads to %s', (reference, address) => {
  expect(addressOf(reference)).toBe(address);
});

test('an address is no document', () => {
  expect(documentIdOf('https://example.org')).toBeUndefined();
  expect(documentIdOf('PMID:1')).toBe('PMID:1');
});

describe('records', () => {
  test('of another shape than expected are read as far as they go', () => {
    expect(nodeOf({ id: 'a', names: [{ text: 'x' }, 'y'], categories: 'herb' })).toMatchObject({ id: 'a', names: [{ text: 'x', lang: 'und' }], categories: [] });
    expect(edgeOf({ id: 'e', evidence: [{ text: 't' }, null] }).evidence).toEqual([{ text: 't', reference: undefined }]);
    expect(documentOf({ id: 'd', authors: [{ last: 'Group' }, { last: 'A', initials: 'B' }], year: 'x' })).toMatchObject({ authors: ['Group', 'A B'], year: undefined });
  });

  test('a name is that of the reader, else English, else the first', () => {
    const names = [{ text: 'ขิง', lang: 'th' }, { text: 'ginger', lang: 'en' }];
    expect(nameIn('th', names, 'id')).toBe('ขิง');
    expect(nameIn('la', names, 'id')).toBe('ginger');
    expect(nameIn('en', [], 'id')).toBe('id');
  });

  test('only a stated check is a check', () => {
    expect(checkOf({ verified: true, reviewed: '2026-11-16' })).toEqual({ isVerified: true, reviewed: '2026-11-16' });
    expect(checkOf({ verified: 'true' })).toEqual({ isVerified: undefined, reviewed: undefined });
  });
});
