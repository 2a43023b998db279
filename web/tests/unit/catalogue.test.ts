// Every string in every language, with the same places, and no string outside of the catalogue.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { cut, fill, LANGUAGES, type Message, placesOf } from '../../src/i18n/message.ts';
import { audit } from '../../src/i18n/messages/audit.ts';
import { documents } from '../../src/i18n/messages/documents.ts';
import { evidence } from '../../src/i18n/messages/evidence.ts';
import { graph } from '../../src/i18n/messages/graph.ts';
import { herbs } from '../../src/i18n/messages/herbs.ts';
import { home } from '../../src/i18n/messages/home.ts';
import { markdown } from '../../src/i18n/messages/markdown.ts';
import { errors, parts } from '../../src/i18n/messages/parts.ts';
import { proof } from '../../src/i18n/messages/proof.ts';
import { search } from '../../src/i18n/messages/search.ts';
import { settings } from '../../src/i18n/messages/settings.ts';
import { shell } from '../../src/i18n/messages/shell.ts';
import { tasks } from '../../src/i18n/messages/tasks.ts';

const CATALOGUES = { audit, documents, errors, evidence, graph, herbs, home, markdown, parts, proof, search, settings, shell, tasks };

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/** Names and formats that are the same in every language. */
const SAME_EVERYWHERE = new Set([
  'shell.product',
  'home.dependencyDown',
  'home.fileDesktop',
  'home.fileVsCode',
  'audit.formatFhir',
  'documents.hash',
  'graph.formats.png',
  'graph.formats.svg',
  'search.formats.bibtex',
  'search.formats.ris',
  'search.formats.csl_json',
]);

function isMessage(value: object): value is Message {
  return LANGUAGES.every((language) => typeof (value as Record<string, unknown>)[language] === 'string');
}

function walk(value: object, path: string): [string, Message][] {
  if (isMessage(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, inner]) => walk(inner as object, `${path}.${name}`));
}

const MESSAGES = Object.entries(CATALOGUES).flatMap(([name, catalogue]) => walk(catalogue, name));

describe('every message', () => {
  test.each(MESSAGES)('%s is there in every language, with the same places and code', (path, message) => {
    for (const language of LANGUAGES) {
      expect(message[language].trim(), language).toBe(message[language]);
      expect(message[language], language).not.toBe('');
      expect(placesOf(message[language]), language).toEqual(placesOf(message.en));
      const code = (text: string) => cut(text).flatMap((piece) => (piece.kind === 'code' ? [piece.text] : [])).sort();
      expect(code(message[language]), language).toEqual(code(message.en));
    }
    const hasThai = /\p{Script=Thai}/u.test(message.th);
    expect(hasThai || SAME_EVERYWHERE.has(path), `${path} is not translated: ${message.th}`).toBe(true);
  });

  test('the catalogue files are all walked', () => {
    const files = readdirSync(join(SRC, 'i18n/messages')).map((file) => file.replace('.ts', ''));
    expect(files.filter((file) => !(file in CATALOGUES))).toEqual([]);
  });
});

describe('the words of the starter data', () => {
  const file = (path: string) => readFileSync(join(SRC, '../..', path), 'utf8');
  const known = (value: unknown): string[] => {
    if (typeof value !== 'object' || value === null) return [];
    const { enum: several = [], const: one } = value as { enum?: string[]; const?: string };
    return [...several, ...(one ? [one] : []), ...Object.values(value).flatMap(known)];
  };
  const schema = (name: string) => JSON.parse(file(`data/schemas/${name}.json`)) as { properties: Record<string, { items?: { properties: Record<string, unknown> } }> };

  test('every predicate has its words', () => {
    const ofFacts = ['herb', 'formulation'].flatMap((name) => known(schema(name).properties['facts']?.items?.properties['predicate']));
    const made = Array.from(file('crates/starter/src/records/edges.rs').matchAll(/\[&[\w.]+, "(\w+)"|const \w+: &str = "(\w+)"/g), ([, inside, constant]) => inside ?? constant ?? '');
    expect(ofFacts).toContain('studied_for');
    expect(made).toEqual(expect.arrayContaining(['subclass_of', 'member_of', 'has_ingredient', 'contains', 'not_interacts_with']));
    expect([...ofFacts, ...made].filter((word) => !(word in evidence.predicates))).toEqual([]);
  });

  test('every kind of condition has its words', () => {
    const kinds = known(schema('condition').properties['kind']);
    expect(kinds).toContain('usage_limit');
    expect(kinds.filter((word) => !(word in evidence.kinds))).toEqual([]);
  });
});

describe('no words stand in the code', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.tsx'));

  test.each(files)('%s', (file) => {
    const text = readFileSync(join(SRC, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
    const children = Array.from(text.matchAll(/>\s*([A-Za-z\u0e00-\u0e7f][^<>{}=;()]*)<\//g), ([, words]) => words?.trim());
    const attributes = Array.from(
      text.matchAll(/\b(?:aria-label|title|alt|placeholder|label|lead)="([^"]*[A-Za-z\u0e00-\u0e7f][^"]*)"/g),
      ([, words]) => words,
    );
    expect([...children, ...attributes]).toEqual([]);
  });
});

test('places are filled, and an unknown one stays to be seen', () => {
  expect(fill('{a} and {b}', { a: 1, b: 'two' })).toBe('1 and two');
  expect(fill('{a}', {})).toBe('{a}');
});

test('a text is cut at its places and at its code', () => {
  expect(cut('Use `x y` for {what}.')).toEqual([
    { kind: 'text', text: 'Use ' },
    { kind: 'code', text: 'x y' },
    { kind: 'text', text: ' for ' },
    { kind: 'place', name: 'what' },
    { kind: 'text', text: '.' },
  ]);
});
