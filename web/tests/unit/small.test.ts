// Times, keys, memory, capabilities, commands.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { CAPABILITIES, stateOf as capabilityState } from '../../src/pages/home/capabilities.ts';
import { clientTexts } from '../../src/pages/home/clients.ts';
import { asPasted } from '../../src/pages/audit/proof-form.tsx';
import { isActorId, type Key, parseScopes, stateOf } from '../../src/pages/settings/keys.ts';
import { searchPartsOf } from '../../src/pages/settings/models.ts';
import { formatDay, formatDuration, formatSpan, formatTime } from '../../src/parts/time.ts';
import { compare, parseSeen, readSeen, relate, remember, rootAsBase64 } from '../../src/proof/memory.ts';

test.each([
  [0, '0 s'],
  [59, '59 s'],
  [60, '1 min'],
  [3_725, '1 h 2 min'],
  [90_000, '1 d 1 h'],
  [86_400, '1 d'],
])('%i s are %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1_776, '1.78 s'],
  [2_741_213, '45 min 41 s'],
])('%i ms are %s', (milliseconds, text) => {
  expect(formatSpan(milliseconds)).toBe(text);
});

test('times stand in the zone of the reader, year first, and nonsense stays as it is', () => {
  const local = new Date(2026, 0, 2, 3, 4, 5, 6);
  expect(formatTime(local.toISOString())).toBe('2026-01-02 03:04:05.006');
  expect(formatDay(local.toISOString())).toBe('2026-01-02');
  expect(formatTime('soon')).toBe('soon');
});

describe('a key', () => {
  const now = new Date('2026-11-15T12:00:00Z');
  const key: Key = { key_id: 'k', actor_id: 'a', roles: [], scopes: [], created_at: '2026-01-01T00:00:00Z' };

  test('is active until it expires or is revoked', () => {
    expect(stateOf(key, now)).toBe('active');
    expect(stateOf({ ...key, expires_at: '2026-11-15T12:00:01Z' }, now)).toBe('active');
    expect(stateOf({ ...key, expires_at: '2026-11-15T12:00:00Z' }, now)).toBe('expired');
    expect(stateOf({ ...key, expires_at: '2999-01-01T00:00:00Z', revoked_at: '2026-11-15T00:00:00Z' }, now)).toBe('revoked');
  });

  test('belongs to an actor with a proper name', () => {
    expect(['a', 'ward-7.intake', 'A_1', 'x'.repeat(128)].every(isActorId)).toBe(true);
    expect(['', '-a', 'a b', 'ก', 'x'.repeat(129)].some(isActorId)).toBe(false);
  });

  test('has scopes, each once', () => {
    expect(parseScopes(' a/b.rs\n\nc/d.rs a/b.rs ')).toEqual(['a/b.rs', 'c/d.rs']);
    expect(parseScopes(' \n')).toEqual([]);
  });
});

describe('what this browser has seen', () => {
  const rootHash = 'A'.repeat(43) + '=';
  const seen = { origin: 'log', treeSize: 10, rootHash, verifiedAt: '2026-11-15T12:00:00Z' };

  test.each([
    [null, 3, rootHash, 'first'],
    [seen, 11, 'B'.repeat(43) + '=', 'grown'],
    [seen, 10, rootHash, 'same'],
    [seen, 10, 'B'.repeat(43) + '=', 'forked'],
    [seen, 9, rootHash, 'older'],
  ] as const)('%j against %i: %s is %s', (before, treeSize, root, expected) => {
    expect(relate(before, { treeSize, rootHash: root })).toBe(expected);
  });

  describe('counts as it was when the server was asked', () => {
    const kept = new Map<string, string>();
    vi.stubGlobal('localStorage', {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => kept.set(name, value),
    });
    afterEach(() => kept.clear());

    test('a check of the whole log is no rollback because a larger checkpoint was verified after it', () => {
      remember(seen, readSeen());
      const before = readSeen();
      const checked = compare(before, { treeSize: 11, rootHash: 'B'.repeat(43) + '=' });
      expect(checked).toEqual({ relation: 'grown', seenSize: 10 });
      expect(remember({ ...seen, treeSize: 12 }, readSeen()).relation).toBe('grown');
      expect(readSeen()?.treeSize).toBe(12);
      expect(checked).toEqual({ relation: 'grown', seenSize: 10 });
    });

    test('an answer that another tab has overtaken is no rollback, and does not lower what is kept', () => {
      const before = readSeen();
      remember({ ...seen, treeSize: 12 }, before);
      expect(remember({ ...seen, treeSize: 11 }, before).relation).toBe('first');
      expect(readSeen()?.treeSize).toBe(12);
      expect(remember({ ...seen, treeSize: 11 }, readSeen())).toEqual({ relation: 'older', seenSize: 12 });
    });
  });

  test('is read back, or not at all', () => {
    expect(parseSeen(JSON.stringify(seen))).toEqual(seen);
    for (const wrong of [null, '', '{', '{}', 'null', '[]', '{"origin":"x"}']) expect(parseSeen(wrong)).toBeNull();
  });

  test('a root in hex is the same root', () => {
    expect(rootAsBase64('00'.repeat(32))).toBe(rootHash);
    expect(rootAsBase64(rootHash)).toBe(rootHash);
    expect(rootAsBase64('00')).toBeNull();
  });
});

describe('what search works with', () => {
  const of = (metadata: object) => searchPartsOf({ hits: [], metadata });

  test('is the model in use, and how many texts still wait for it', () => {
    expect(of({ model: 'minilm', vectors: true, lexicon: false, vectors_missing: 7, message: 'still being made' })).toEqual({
      model: { is: 'in_use', name: 'minilm', hasAnswered: true, message: undefined },
      nMissing: 7,
      hasLexica: false,
    });
    expect(of({ model: 'minilm', vectors: false, lexicon: true, message: 'It gave no answer' }).model).toEqual({
      is: 'in_use',
      name: 'minilm',
      hasAnswered: false,
      message: 'It gave no answer',
    });
  });

  test('is no model, or one that cannot be used', () => {
    expect(of({ model: null, vectors: false, lexicon: false, message: 'No embedding model is in use: …' }).model).toEqual({ is: 'none' });
    const message = 'The embedding model that was chosen cannot be used (no such file): words and names alone were searched.';
    expect(of({ model: null, vectors: false, message }).model).toEqual({ is: 'unusable', fault: 'no such file' });
  });

  test('is told by no older server, and by nonsense neither', () => {
    for (const answer of [null, {}, { metadata: { lexicon: 'yes', vectors_missing: 'many' } }]) {
      expect(searchPartsOf(answer)).toEqual({ model: { is: 'none' }, nMissing: 0, hasLexica: undefined });
    }
  });
});

test('a capability works when all of its operations are served', () => {
  const [ids] = CAPABILITIES;
  if (ids === undefined) throw new Error('no capability');
  expect(capabilityState(ids, () => true)).toBe('works');
  expect(capabilityState(ids, (name) => name === ids.operations[0])).toBe('partly');
  expect(capabilityState(ids, () => false)).toBe('missing');
});

test('commands name this server and never a token', () => {
  const texts = clientTexts('http://127.0.0.1:9000', 'token');
  for (const text of [texts.claudeCodeHttp, texts.vsCode, texts.curl]) expect(text).toContain('http://127.0.0.1:9000/');
  expect(Object.values(texts).join('\n')).not.toMatch(/MATERIA_TOKEN|Bearer [0-9a-f]/);
  for (const json of [texts.claudeDesktop, texts.vsCode]) expect(() => JSON.parse(json) as unknown).not.toThrow();
});

test('a pasted proof is brought back to its form', () => {
  expect(asPasted('{"a":1}\n', 'proof\r\nlast\r\n\r\n')).toEqual({ eventJson: '{"a":1}', proof: 'proof\nlast\n' });
});
