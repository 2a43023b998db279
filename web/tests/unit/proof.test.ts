// The verifier against logs made by tests/vectors/make_vectors.py, which shares no code with it.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { decodeBase64, encodeBase64 } from '../../src/proof/base64.ts';
import { parseCheckpoint, parseDecimal, parseNote, parseVerifierKey } from '../../src/proof/note.ts';
import { type Claim, isSameJson, parseProof, type Report, verifyCheckpoint, verifyClaim } from '../../src/proof/proof.ts';

interface Case {
  size: number;
  index: number;
  event_json: string;
  proof: string;
  checkpoint: string;
}

const vectors = JSON.parse(readFileSync(new URL('../vectors/proofs.json', import.meta.url), 'utf8')) as {
  log_key: string;
  next_log_key: string;
  other_log_key: string;
  cases: Case[];
  rotation: { event_json: string; both: string; only_next: string };
};

function claimOf(made: Case): Claim {
  return {
    eventJson: made.event_json,
    proof: made.proof,
    logKey: vectors.log_key,
    trustedKey: vectors.log_key,
    expected: { event: JSON.parse(made.event_json), leafIndex: made.index, checkpoint: made.checkpoint },
  };
}

function find(size: number, index: number): Case {
  const found = vectors.cases.find((made) => made.size === size && made.index === index);
  if (found === undefined) throw new Error(`no vector ${size}/${index}`);
  return found;
}

function states(report: Report): string {
  return report.steps.map(({ id, state }) => `${id} ${state}`).join(', ');
}

const ALL_PASSED = 'event passed, format passed, inclusion passed, signature passed, key passed';

describe('every proof of every small log', () => {
  test.each(vectors.cases)('holds: leaf $index of $size', async (made) => {
    const report = await verifyClaim(claimOf(made));
    expect(states(report)).toBe(ALL_PASSED);
    expect(report.facts).toMatchObject({ leafIndex: made.index, treeSize: made.size, nOtherSignatures: 0 });
  });

  test('is worth nothing for another leaf or another tree', async () => {
    const proofs = vectors.cases.filter(({ size }) => size >= 6 && size <= 8);
    for (const made of proofs) {
      for (const other of proofs) {
        if (other === made) continue;
        const report = await verifyClaim({ ...claimOf(made), proof: other.proof, expected: undefined });
        const isSameLeaf = other.index === made.index;
        expect(report.isProven, `${made.index}/${made.size} by ${other.index}/${other.size}`).toBe(isSameLeaf);
      }
    }
  });
});

describe('a change', () => {
  const made = find(13, 6);

  test('of any character of the event is found', async () => {
    for (let at = 0; at < made.event_json.length; at += 1) {
      const changed = replaceAt(made.event_json, at);
      const report = await verifyClaim({ ...claimOf(made), eventJson: changed, expected: undefined });
      expect(report.isProven, changed).toBe(false);
    }
  });

  test('of any character of the proof is found', async () => {
    for (let at = 0; at < made.proof.length; at += 1) {
      const changed = replaceAt(made.proof, at);
      const report = await verifyClaim({ ...claimOf(made), proof: changed, expected: undefined });
      expect(report.isProven, changed).toBe(false);
    }
  });

  test('by leaving out, doubling or swapping a line of the proof is found', async () => {
    const lines = made.proof.split('\n');
    for (let at = 0; at < lines.length - 1; at += 1) {
      const without = lines.toSpliced(at, 1);
      const doubled = lines.toSpliced(at, 0, lines[at] ?? '');
      const swapped = lines.toSpliced(at, 2, lines[at + 1] ?? '', lines[at] ?? '');
      for (const changed of [without, doubled, swapped]) {
        const proof = changed.join('\n');
        // Doubling the log's own signature line says the same twice.
        if (proof === made.proof || (changed === doubled && lines[at]?.startsWith('\u2014'))) continue;
        const report = await verifyClaim({ ...claimOf(made), proof, expected: undefined });
        expect(report.isProven, proof).toBe(false);
      }
    }
  });

  test('of any character of the key is found', async () => {
    for (let at = 0; at < vectors.log_key.length; at += 1) {
      const logKey = replaceAt(vectors.log_key, at);
      const report = await verifyClaim({ ...claimOf(made), logKey, trustedKey: undefined });
      expect(report.isProven, logKey).toBe(false);
    }
  });

  test('of the event on the screen is found', async () => {
    const event = { ...(JSON.parse(made.event_json) as object), outcome: 'denied' };
    const report = await verifyClaim({ ...claimOf(made), expected: { event, leafIndex: 6 } });
    expect(states(report)).toBe(ALL_PASSED.replace('event passed', 'event failed'));
  });

  test('of the place on the screen is found', async () => {
    const expected = { event: JSON.parse(made.event_json) as unknown, leafIndex: 7 };
    const report = await verifyClaim({ ...claimOf(made), expected });
    expect(states(report)).toBe(ALL_PASSED.replace('event passed', 'event failed'));
  });

  test('of the checkpoint that was shown beside the proof is found', async () => {
    const expected = { event: JSON.parse(made.event_json) as unknown, leafIndex: 6, checkpoint: find(12, 6).checkpoint };
    const report = await verifyClaim({ ...claimOf(made), expected });
    expect(states(report)).toBe(ALL_PASSED.replace('format passed', 'format failed'));
  });
});

describe('keys', () => {
  const { event_json: eventJson, both, only_next: onlyNext } = vectors.rotation;
  const check = async (proof: string, logKey: string, trustedKey?: string) =>
    states(await verifyClaim({ eventJson, proof, logKey, trustedKey }));
  const proven = (key: string) => `event unknown, format passed, inclusion passed, signature passed, key ${key}`;

  test('without a trusted key the last step is open, and said to be', async () => {
    expect(await check(both, vectors.log_key)).toBe(proven('unknown'));
  });

  test('a trusted key holds while the log signs with the old and the next one', async () => {
    expect(await check(both, vectors.next_log_key, vectors.log_key)).toBe(proven('passed'));
  });

  test('a key that replaced the trusted one is found', async () => {
    expect(await check(onlyNext, vectors.next_log_key, vectors.log_key)).toBe(proven('failed'));
  });

  test('the same key under the name of another log is refused', async () => {
    const report = await check(both, vectors.other_log_key);
    expect(report).toBe(proven('unknown').replace('signature passed', 'signature failed'));
  });

  test('signatures of others are counted and not taken for the log', async () => {
    const report = await verifyClaim({ eventJson, proof: both, logKey: vectors.log_key });
    expect(report.facts.nOtherSignatures).toBe(2);
  });
});

describe('a checkpoint alone', () => {
  const { checkpoint } = find(13, 6);

  test('is checked for its form, its signature and the trusted key', async () => {
    const report = await verifyCheckpoint(checkpoint, vectors.log_key, vectors.log_key);
    expect(states(report)).toBe('format passed, signature passed, key passed');
    expect(report.facts).toMatchObject({ origin: 'materia.example/log', treeSize: 13 });
  });

  test('with any character changed is refused', async () => {
    for (let at = 0; at < checkpoint.length; at += 1) {
      expect((await verifyCheckpoint(replaceAt(checkpoint, at), vectors.log_key, undefined)).isProven).toBe(false);
    }
  });

  test('of another key is refused', async () => {
    expect(states(await verifyCheckpoint(checkpoint, vectors.next_log_key, vectors.log_key))).toBe(
      'format passed, signature failed, key passed',
    );
  });
});

describe('texts that are not what they should be', () => {
  test.each([
    ['', null],
    ['YQ==', 'a'],
    ['YR==', null],
    ['YQ=', null],
    ['YQ', null],
    ['Y Q==', null],
    ['YQ==\n', null],
    ['_-8=', null],
  ])('base64 %j', (text, expected) => {
    const bytes = decodeBase64(text);
    const decoded = bytes === null || bytes.length === 0 ? null : new TextDecoder().decode(bytes);
    expect(decoded).toBe(expected);
    if (bytes !== null) expect(encodeBase64(bytes)).toBe(text);
  });

  test.each([
    ['0', 0],
    ['10', 10],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', null],
    ['01', null],
    ['-1', null],
    ['1e3', null],
    [' 1', null],
    ['', null],
  ])('number %j', (text, expected) => {
    expect(parseDecimal(text)).toBe(expected);
  });

  test('notes', () => {
    const { checkpoint } = find(3, 1);
    expect(parseNote(checkpoint)).not.toBeNull();
    for (const wrong of ['', '\n', 'text\n', checkpoint.trimEnd(), `${checkpoint}\n`, `\u0007${checkpoint}`]) {
      expect(parseNote(wrong), JSON.stringify(wrong)).toBeNull();
    }
  });

  test('checkpoints', () => {
    const root = encodeBase64(new Uint8Array(32));
    expect(parseCheckpoint(`log\n0\n${root}\n`)?.treeSize).toBe(0);
    expect(parseCheckpoint(`log\n0\n${root}\nextension\n`)).not.toBeNull();
    for (const wrong of [`\n0\n${root}\n`, `log\n0\n${root}`, `log\n0\n${root}\n\nx\n`, `log\n0\nAAAA\n`, `log\n-1\n${root}\n`]) {
      expect(parseCheckpoint(wrong), JSON.stringify(wrong)).toBeNull();
    }
  });

  test('proofs', () => {
    const { checkpoint } = find(1, 0);
    expect(parseProof(`c2sp.org/tlog-proof@v1\nextra YQ==\nindex 0\n\n${checkpoint}`)?.leafIndex).toBe(0);
    for (const wrong of ['extra YQ\nindex 0', 'index 00', 'index', '', 'index 0\nAAAA', 'index 0\nextra YQ==']) {
      expect(parseProof(`c2sp.org/tlog-proof@v1\n${wrong}\n\n${checkpoint}`), wrong).toBeNull();
    }
    const hash = encodeBase64(new Uint8Array(32));
    const long = Array.from({ length: 65 }, () => hash).join('\n');
    expect(parseProof(`c2sp.org/tlog-proof@v1\nindex 0\n${long}\n\n${checkpoint}`)).toBeNull();
  });

  test('keys', async () => {
    expect(await parseVerifierKey(` ${vectors.log_key}\n`)).toMatchObject({ name: 'materia.example/log' });
    for (const wrong of ['', 'name', 'name+00000000+AAAA', vectors.log_key.replace('f06f', 'F06F')]) {
      expect(await parseVerifierKey(wrong), wrong).toBeNull();
    }
  });
});

test('JSON is compared by value, not by order', () => {
  expect(isSameJson({ a: [1, { b: null }], c: 'x' }, { c: 'x', a: [1, { b: null }] })).toBe(true);
  expect(isSameJson({ a: null }, {})).toBe(false);
  expect(isSameJson({ a: undefined }, { b: undefined })).toBe(false);
  expect(isSameJson([1, 2], [2, 1])).toBe(false);
  expect(isSameJson([], {})).toBe(false);
  expect(isSameJson(1, '1')).toBe(false);
});

/** Another character of the same kind, so that formats stay plausible. */
function replaceAt(text: string, at: number): string {
  const character = text[at] ?? '';
  const other = character === 'A' ? 'B' : 'A';
  return text.slice(0, at) + other + text.slice(at + 1);
}
