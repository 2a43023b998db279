// The generator of the client, on the server's committed document.

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const WEB = fileURLToPath(new URL('../..', import.meta.url));

let root: string;
const script = () => join(root, 'web/scripts/generate-client.mjs');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'materia-generate-'));
  for (const folder of ['web/scripts', 'web/src/api', 'crates/server/contracts']) mkdirSync(join(root, folder), { recursive: true });
  cpSync(join(WEB, 'scripts/generate-client.mjs'), script());
});

afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, paths: object, schemas: object = {}) {
  writeFileSync(join(root, path), JSON.stringify({ paths, components: { schemas } }));
}

function operation(input: object, output: object) {
  const json = (schema: object) => ({ content: { 'application/json': { schema } } });
  return { post: { summary: 'Does it.', requestBody: json(input), responses: { 200: json(output) } } };
}

const CONTRACT = 'crates/server/contracts/openapi.json';

test('a schema becomes a type, with its definitions and words', () => {
  const input = {
    type: 'object',
    properties: { id: { type: ['string', 'null'], description: 'Which.' }, list: { type: 'array', items: { $ref: '#/$defs/Item' } }, 'x-y': {} },
    required: ['list'],
    $defs: { Item: { anyOf: [{ enum: ['a', 'b'] }, { type: 'integer' }] } },
  };
  write(CONTRACT, { '/api/tools/do_it': operation(input, { $ref: '#/components/schemas/Done' }), '/other': {} }, { Done: { const: true } });
  execFileSync('node', [script()]);
  const text = read('web/src/api/operations.ts');
  expect(text).toContain('export type Done = true;');
  expect(text).toContain('export type DoItInputItem = "a" | "b" | number;');
  expect(text).toContain('  /** Does it. */\n  do_it: {');
  expect(text).toContain('      /** Which. */\n      id?: string | null;\n      list: DoItInputItem[];\n      "x-y"?: unknown;');
  expect(text).toContain('    output: Done;');
});

test('a stale client fails the check', () => {
  write(CONTRACT, { '/api/tools/a': operation({}, {}) });
  expect(spawnSync('node', [script(), '--check']).status).toBe(1);
  execFileSync('node', [script()]);
  expect(spawnSync('node', [script(), '--check']).status).toBe(0);
  write(CONTRACT, { '/api/tools/b': operation({}, {}) });
  expect(spawnSync('node', [script(), '--check']).status).toBe(1);
});
