// Proofs of inclusion (c2sp.org/tlog-proof@v1), verified step by step so that a reader sees what was checked.

import { decodeBase64, encodeBase64, encodeHex } from './base64.ts';
import { type Bytes, hashLeaf, isIncluded } from './merkle.ts';
import {
  type Checkpoint,
  checkSignature,
  type Note,
  parseCheckpoint,
  parseDecimal,
  parseNote,
  parseVerifierKey,
} from './note.ts';

const PATH_LENGTH_MAX = 64;

export interface Proof {
  leafIndex: number;
  path: Bytes[];
  /** The signed note, verbatim. */
  checkpoint: string;
}

export function parseProof(text: string): Proof | null {
  const split = text.indexOf('\n\n');
  if (split < 0) return null;
  const lines = text.slice(0, split).split('\n');
  if (lines.shift() !== 'c2sp.org/tlog-proof@v1') return null;
  if (lines[0]?.startsWith('extra ')) {
    if (decodeBase64(lines[0].slice('extra '.length)) === null) return null;
    lines.shift();
  }
  const index = lines.shift();
  const leafIndex = index?.startsWith('index ') ? parseDecimal(index.slice('index '.length)) : null;
  if (leafIndex === null || lines.length > PATH_LENGTH_MAX) return null;
  const path = lines.map(decodeBase64);
  if (!path.every((hash) => hash !== null && hash.length === 32)) return null;
  return { leafIndex, path: path as Bytes[], checkpoint: text.slice(split + 2) };
}

export type StepId = 'event' | 'format' | 'inclusion' | 'signature' | 'key';

/** `unchecked`: an earlier step failed, or this browser cannot; `unknown`: nothing to compare with. */
export type StepState = 'passed' | 'failed' | 'unchecked' | 'unknown';

export interface Step {
  id: StepId;
  state: StepState;
}

export interface Facts {
  leafHash?: string;
  leafIndex?: number;
  pathLength?: number;
  origin?: string;
  treeSize?: number;
  /** Base64, as in the checkpoint. */
  rootHash?: string;
  keyName?: string;
  keyId?: string;
  /** Signatures by others, such as witnesses, whose keys are not known here. */
  nOtherSignatures?: number;
}

export interface Report {
  isProven: boolean;
  steps: Step[];
  facts: Facts;
}

export interface Claim {
  /** The exact text of the leaf. */
  eventJson: string;
  proof: string;
  /** The key that came with the proof. */
  logKey: string;
  /** The key that this reader trusts, where they have chosen one. */
  trustedKey?: string | undefined;
  /** What the leaf is said to be: the event on the screen, and its place. */
  expected?: { event: unknown; leafIndex: number | null; checkpoint?: string } | undefined;
}

/**
 * Checks a claim without asking the server anything. The server could have sent all of it, key included: the last step
 * tells whether the key is one that the reader already trusted.
 */
export async function verifyClaim(claim: Claim): Promise<Report> {
  const proof = parseProof(claim.proof);
  const signed = parseSigned(proof?.checkpoint ?? '');
  const leafHash = await hashLeaf(new TextEncoder().encode(claim.eventJson));
  const facts = await factsOf(signed, claim.logKey);
  facts.leafHash = encodeHex(leafHash);
  if (proof !== null) {
    facts.leafIndex = proof.leafIndex;
    facts.pathLength = proof.path.length;
  }
  const isShown = (claim.expected?.checkpoint ?? proof?.checkpoint) === proof?.checkpoint;
  return reportOf(facts, [
    { id: 'event', state: checkEvent(claim, proof) },
    { id: 'format', state: proof !== null && signed !== null && isShown ? 'passed' : 'failed' },
    { id: 'inclusion', state: await checkInclusion(leafHash, proof, signed) },
    { id: 'signature', state: await checkSigner(claim.logKey, signed) },
    { id: 'key', state: await checkTrusted(claim.trustedKey, signed) },
  ]);
}

/** Checks a signed note that states how long the log is and what its root is. */
export async function verifyCheckpoint(note: string, logKey: string, trustedKey: string | undefined): Promise<Report> {
  const signed = parseSigned(note);
  return reportOf(await factsOf(signed, logKey), [
    { id: 'format', state: signed === null ? 'failed' : 'passed' },
    { id: 'signature', state: await checkSigner(logKey, signed) },
    { id: 'key', state: await checkTrusted(trustedKey, signed) },
  ]);
}

/** A checkpoint with the note that carries its signatures. Nothing is verified yet. */
interface Signed {
  note: Note;
  checkpoint: Checkpoint;
}

function parseSigned(text: string): Signed | null {
  const note = parseNote(text);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  return note === null || checkpoint === null ? null : { note, checkpoint };
}

function reportOf(facts: Facts, steps: Step[]): Report {
  return { facts, steps, isProven: steps.every(({ state }) => state === 'passed' || state === 'unknown') };
}

async function factsOf(signed: Signed | null, logKey: string): Promise<Facts> {
  const facts: Facts = {};
  const key = await parseVerifierKey(logKey);
  if (key !== null) {
    facts.keyName = key.name;
    facts.keyId = key.keyId;
  }
  if (signed !== null) {
    const { origin, treeSize, rootHash } = signed.checkpoint;
    Object.assign(facts, { origin, treeSize, rootHash: encodeBase64(rootHash) });
    const others = signed.note.signatures.filter((line) => line.name !== key?.name || line.keyId !== key.keyId);
    facts.nOtherSignatures = others.length;
  }
  return facts;
}

function checkEvent({ eventJson, expected }: Claim, proof: Proof | null): StepState {
  let event: unknown;
  try {
    event = JSON.parse(eventJson);
  } catch {
    return 'failed';
  }
  if (expected === undefined) return 'unknown';
  const isPlace = expected.leafIndex === null || proof === null || expected.leafIndex === proof.leafIndex;
  return isPlace && isSameJson(event, expected.event) ? 'passed' : 'failed';
}

async function checkInclusion(leafHash: Bytes, proof: Proof | null, signed: Signed | null): Promise<StepState> {
  if (proof === null || signed === null) return 'unchecked';
  const { treeSize, rootHash } = signed.checkpoint;
  const inclusion = { leafHash, leafIndex: proof.leafIndex, treeSize, path: proof.path };
  return (await isIncluded(inclusion, rootHash)) ? 'passed' : 'failed';
}

/** Whether the checkpoint is signed by this key, which must bear the name of the log. */
async function checkSigner(key: string, signed: Signed | null): Promise<StepState> {
  const parsed = await parseVerifierKey(key);
  if (parsed === null) return 'failed';
  if (signed === null) return 'unchecked';
  // A key of one log must not vouch for another.
  if (parsed.name !== signed.checkpoint.origin) return 'failed';
  const state = await checkSignature(signed.note, parsed);
  if (state === 'unsupported') return 'unchecked';
  return state === 'verified' ? 'passed' : 'failed';
}

/** While a log changes its key it signs with both, so the trusted key may be another than the one sent along. */
async function checkTrusted(key: string | undefined, signed: Signed | null): Promise<StepState> {
  return key === undefined ? 'unknown' : checkSigner(key, signed);
}

/** Equality of JSON values; the order of members does not count, and an absent member is not `null`. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSameJson(left[name], right[name]))
  );
}

/** Whether this page may use WebCrypto: browsers allow it only over HTTPS and on this machine. */
export function canVerify(): boolean {
  return globalThis.crypto?.subtle !== undefined;
}
