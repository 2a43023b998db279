// Times, keys, memory, capabilities, commands.

import { describe, expect, test } from 'vitest';
import { CAPABILITIES, stateOf as capabilityState } from '../../src/pages/home/capabilities.ts';
import { clientTexts } from '../../src/pages/home/clients.ts';
import { asPasted } from '../../src/pages/audit/proof-form.tsx';
import { isActorId, type Key, parseScopes, stateOf } from '../../src/pages/settings/keys.ts';
import { formatDay, formatDuration, formatSpan, formatTime } from '../../src/parts/time.ts';
import { compareWithSeen, parseSeen, rootAsBase64 } from '../../src/proof/memory.ts';

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
    expect(compareWithSeen(before, { treeSize, rootHash: root })).toBe(expected);
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
