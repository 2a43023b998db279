// The network on the screen, completion of patterns, pictures and tables of it; and what a herb page gathers.

import { describe, expect, test } from 'vitest';
import { documentOf, edgeOf, nodeOf, wordsOf } from '../../src/evidence/record.ts';
import { colourOf, N_COLOURS } from '../../src/graph/colours.ts';
import { draw, toSvg } from '../../src/graph/drawing.ts';
import { tsvOf } from '../../src/graph/kgx.ts';
import { degrees, EMPTY, kindsOf, type NodeDetails, NODES_MAX, partsOf, visible, withNames, withNode, withoutNode, withPaths, withRecords } from '../../src/graph/network.ts';
import { complete, startOf } from '../../src/graph/pattern.ts';
import { inOrder, isNamed, paperIds } from '../../src/pages/herbs/herbs.ts';

const relation = (predicate: string, id: string, type: string, reverse = false) => ({ predicate, id, type, label: id, edge_id: `${predicate}:${id}`, source: 's', reverse, verified: false });

const details: NodeDetails = {
  id: 'h',
  type: 'herb',
  categories: ['herb'],
  label: 'h',
  names: [{ text: 'Herb', lang: 'en' }],
  source: 's',
  licence: 'CC0-1.0',
  relations: [relation('contains', 'c', 'constituent'), relation('cites', 'p', 'paper', true)],
  n_relations: 2,
};

const network = withNode(EMPTY, details);

describe('a network', () => {
  test('has the node, its neighbours, and every line in its direction', () => {
    expect([...network.nodes.keys()]).toEqual(['h', 'c', 'p']);
    expect(network.nodes.get('h')?.isExpanded).toBe(true);
    expect(network.edges.get('contains:c')).toMatchObject({ subject: 'h', object: 'c' });
    expect(network.edges.get('cites:p')).toMatchObject({ subject: 'p', object: 'h' });
    expect(degrees(network).get('h')).toBe(2);
    expect(withNode(network, details)).toEqual(network);
  });

  test('follows paths against the edge too', () => {
    const path = [
      { id: 'c', type: 'constituent', label: 'c' },
      { id: 'h2', type: 'herb', label: 'h2', via: { predicate: 'contains', edge_id: 'e2', source: 's', reverse: true, verified: false } },
    ];
    const longer = withPaths(network, [path]);
    expect(longer.edges.get('e2')).toMatchObject({ subject: 'h2', object: 'c' });
    expect([...partsOf(path)]).toEqual(['c', 'h2', 'e2']);
    expect(longer.nodes.get('h')?.isExpanded).toBe(true);
  });

  test('loses a node with its lines, and hides types without losing them', () => {
    const without = withoutNode(network, 'c');
    expect([without.nodes.size, without.edges.size]).toEqual([2, 1]);
    expect(without.nodes.get('h')?.isExpanded).toBe(false);
    const part = visible(network, new Set(['paper']));
    expect([...part.nodes.keys()]).toEqual(['h', 'c']);
    expect(part.edges.size).toBe(1);
    expect(kindsOf(network).map(([kind]) => kind)).toEqual(['constituent', 'herb', 'paper']);
  });

  test('ends where it would no longer be fluid, and has no line into nothing', () => {
    const many = Array.from({ length: NODES_MAX + 1 }, (_, at) => nodeOf({ id: `n${at}`, categories: ['x'] }));
    const full = withRecords(EMPTY, many, [edgeOf({ id: 'e', subject: 'n0', predicate: 'p', object: `n${NODES_MAX}` })]);
    expect([full.nodes.size, full.edges.size, full.isFull]).toEqual([NODES_MAX, 0, true]);
  });

  test('learns names', () => {
    const named = withNames(network, [nodeOf({ id: 'c', names: [{ text: 'สาร', lang: 'th' }] })]);
    expect(named.nodes.get('c')?.names).toEqual([{ text: 'สาร', lang: 'th' }]);
  });
});

describe('completion', () => {
  const vocabulary = { kinds: ['constituent', 'herb', 'odd type'], predicates: ['contains', 'treats'] };
  const offers = (text: string) => complete(text, text.length, vocabulary).map(({ text: whole }) => whole);

  test.each([
    ['', ['constituent ', 'herb ', '`odd type` ', '* ']],
    ['he', ['herb ']],
    ['herb -', ['herb -contains-> ', 'herb -treats-> ', 'herb -*-> ']],
    ['herb -tr', ['herb -treats-> ']],
    ['herb <-con', ['herb <-contains- ']],
    ['herb -contains-> con', ['herb -contains-> constituent ']],
    ['herb -contains-> constituent <-*- h', ['herb -contains-> constituent <-*- herb ']],
    ['`odd type` -tr', ['`odd type` -treats-> ']],
    ['herb', []],
    ['herb >> ', []],
  ])('of `%s` offers %j', (text, expected) => {
    expect(offers(text)).toEqual(expected);
  });

  test('after a type, both directions are offered', () => {
    expect(offers('herb ').slice(0, 2)).toEqual(['herb -contains-> ', 'herb <-contains- ']);
  });

  test('in the middle keeps what follows', () => {
    expect(complete('herb -con constituent', 9, vocabulary)[0]).toEqual({ label: '-contains->', text: 'herb -contains-> constituent', caret: 17 });
  });

  test('the start is the first type', () => {
    expect([startOf('herb -a-> b'), startOf('`odd type` -a-> b'), startOf('* -a-> b'), startOf('')]).toEqual(['herb', 'odd type', undefined, undefined]);
  });
});

describe('pictures and tables', () => {
  const colours = { paper: '#fff', ink: '#000', line: '#999', kind: (kind: string) => (kind === 'herb' ? '#0a0' : '#00a') };
  const positions = new Map([
    ['h', { x: 0, y: 0 }],
    ['c', { x: 10, y: 5 }],
    ['p', { x: -3, y: -5 }],
  ]);

  test('every node and line is drawn within the paper, and words cannot become elements', () => {
    const drawing = draw(network, positions, (id) => `<${id} & "more">`, colours);
    expect([drawing.lines.length, drawing.discs.length, drawing.words.length]).toEqual([2, 3, 3]);
    for (const { x, y } of drawing.discs) expect(x >= 0 && x <= drawing.width && y >= 0 && y <= drawing.height).toBe(true);
    const svg = toSvg(drawing);
    expect(svg).toContain('&lt;h &amp; &quot;more&quot;&gt;</text>');
    expect(svg).not.toContain('<h &');
  });

  test('one node alone stands in the middle', () => {
    const alone = withRecords(EMPTY, [nodeOf({ id: 'a', categories: ['herb'] })], []);
    expect(draw(alone, new Map([['a', { x: 3, y: 4 }]]), (id) => id, colours).discs[0]).toMatchObject({ x: 800, y: 600 });
    expect(draw(alone, new Map(), (id) => id, colours).discs).toEqual([]);
  });

  test('KGX becomes a table with the usual columns first', () => {
    const lines = '{"zeta":1,"id":"a","category":["biolink:Herb","x|y"],"name":"two\\nlines"}\n{"id":"b","deep":{"a":1}}\n';
    expect(tsvOf(lines)).toBe('id\tcategory\tname\tdeep\tzeta\na\tbiolink:Herb|x y\ttwo lines\t\t1\nb\t\t\t{"a":1}\t\n');
    expect(tsvOf('')).toBe('\n');
  });

  test('every type has one of the colours, always the same', () => {
    for (const kind of ['herb', 'anything', 'ชนิด', '', 'constructor']) {
      expect(colourOf(kind)).toBe(colourOf(kind));
      expect(colourOf(kind) >= 1 && colourOf(kind) <= N_COLOURS).toBe(true);
    }
  });
});

describe('herbs', () => {
  const herb = (id: string, th: string) => ({ node: nodeOf({ id, categories: ['herb'], names: [{ text: th, lang: 'th' }] }), hasMonograph: false });

  test('are listed once, by name, and found by any of their names', () => {
    const list = inOrder([herb('b', 'ข'), herb('a', 'ก'), herb('b', 'ข')], (names, id) => names[0]?.text ?? id, 'th');
    expect(list.map(({ node }) => node.id)).toEqual(['a', 'b']);
    expect([isNamed(herb('khing', 'ขิง'), 'KHI'), isNamed(herb('khing', 'ขิง'), 'ขิ'), isNamed(herb('khing', 'ขิง'), 'x')]).toEqual([true, true, false]);
  });

  test('papers are those that facts point to and monographs name, no addresses', () => {
    const edge = edgeOf({ id: 'e', evidence: [{ reference: 'SYN:1' }, { reference: 'https://example.org' }, { text: 'x' }] });
    const monograph = documentOf({ id: 'm', text: 'see PMID:12', attributes: { sources: [{ id: 'PMID:34' }] } });
    expect(paperIds([edge], [monograph])).toEqual(['SYN:1', 'PMID:34', 'PMID:12']);
  });

  test('attributes are read in the language where they have several', () => {
    expect(wordsOf([{ en: 'leaf', th: 'ใบ' }, 'root'], 'th')).toEqual(['ใบ', 'root']);
    expect(wordsOf(null, 'th')).toEqual([]);
  });
});
