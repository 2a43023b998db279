// Signed notes (c2sp.org/signed-note), verifier keys, and checkpoints (c2sp.org/tlog-checkpoint).

import { decodeBase64, encodeHex } from './base64.ts';
import { type Bytes, join, sha256 } from './merkle.ts';

const SIGNATURES_MAX = 64;
const NOTE_CHARS_MAX = 100_000;
const ED25519 = 0x01;

export interface NoteSignature {
  name: string;
  /** Eight hex digits. */
  keyId: string;
  signature: Bytes;
}

export interface Note {
  /** What is signed, with its last newline. */
  text: string;
  signatures: NoteSignature[];
}

export function parseNote(note: string): Note | null {
  if (note.length > NOTE_CHARS_MAX || !note.endsWith('\n') || /[\u0000-\u0009\u000b-\u001f]/.test(note)) return null;
  const split = note.lastIndexOf('\n\n');
  if (split < 0) return null;
  const text = note.slice(0, split + 1);
  const lines = note.slice(split + 2, -1).split('\n');
  if (lines.length > SIGNATURES_MAX) return null;
  const signatures = lines.map(parseSignature);
  return signatures.every((signature) => signature !== null) ? { text, signatures } : null;
}

function parseSignature(line: string): NoteSignature | null {
  const [, name, encoded] = /^\u2014 ([^\s+]+) ([A-Za-z0-9+/=]+)$/u.exec(line) ?? [];
  const bytes = encoded === undefined ? null : decodeBase64(encoded);
  if (name === undefined || bytes === null || bytes.length <= 4) return null;
  return { name, keyId: encodeHex(bytes.slice(0, 4)), signature: bytes.slice(4) };
}

export interface VerifierKey {
  name: string;
  keyId: string;
  publicKey: Bytes;
}

/** Reads `name+id+key` and checks that the id is the one this name and key have. Only Ed25519. */
export async function parseVerifierKey(text: string): Promise<VerifierKey | null> {
  const [, name, keyId, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u.exec(text.trim()) ?? [];
  const bytes = encoded === undefined ? null : decodeBase64(encoded);
  if (name === undefined || keyId === undefined || bytes === null) return null;
  if (bytes.length !== 33 || bytes[0] !== ED25519) return null;
  const hash = await sha256(join(new TextEncoder().encode(`${name}\n`), bytes));
  return encodeHex(hash.slice(0, 4)) === keyId ? { name, keyId, publicKey: bytes.slice(1) } : null;
}

/** `absent`: no line is from this key; `unsupported`: this browser does not know Ed25519. */
export type SignatureState = 'verified' | 'wrong' | 'absent' | 'unsupported';

/** One wrong line from the key spoils the note, as the standard advises. */
export async function checkSignature(note: Note, key: VerifierKey): Promise<SignatureState> {
  const own = note.signatures.filter((line) => line.name === key.name && line.keyId === key.keyId);
  if (own.length === 0) return 'absent';
  try {
    const imported = await crypto.subtle.importKey('raw', key.publicKey, { name: 'Ed25519' }, false, ['verify']);
    const text = new TextEncoder().encode(note.text);
    for (const { signature } of own) {
      if (!(await crypto.subtle.verify({ name: 'Ed25519' }, imported, signature, text))) return 'wrong';
    }
    return 'verified';
  } catch (error) {
    // A key that is no point of the curve is refused with another name.
    return error instanceof DOMException && error.name === 'NotSupportedError' ? 'unsupported' : 'wrong';
  }
}

export interface Checkpoint {
  origin: string;
  treeSize: number;
  rootHash: Bytes;
}

export function parseCheckpoint(text: string): Checkpoint | null {
  const [origin, size, root, ...rest] = text.split('\n');
  const rootHash = decodeBase64(root ?? '');
  const treeSize = parseDecimal(size ?? '');
  if (!origin || treeSize === null || rootHash === null || rootHash.length !== 32) return null;
  // The text ends with a newline, and extension lines are not empty.
  if (rest.at(-1) !== '' || rest.slice(0, -1).some((line) => line === '')) return null;
  return { origin, treeSize, rootHash };
}

export function parseDecimal(text: string): number | null {
  const number = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : null;
}
