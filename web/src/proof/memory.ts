// What this browser remembers of a log, so that the server cannot take it back: a key and the largest checkpoint seen.

import { readSetting, writeSetting } from '../shell/kept.ts';
import { decodeBase64, encodeBase64 } from './base64.ts';

export interface SeenCheckpoint {
  origin: string;
  treeSize: number;
  /** Base64. */
  rootHash: string;
  /** When this browser verified it, RFC 3339. */
  verifiedAt: string;
}

export type Comparison = 'first' | 'grown' | 'same' | 'older' | 'forked';

/** `older` is no proof of wrongdoing: a backup may have been restored. `forked` is. */
export function compareWithSeen(seen: SeenCheckpoint | null, present: { treeSize: number; rootHash: string }): Comparison {
  if (seen === null) return 'first';
  if (present.treeSize > seen.treeSize) return 'grown';
  if (present.treeSize < seen.treeSize) return 'older';
  return present.rootHash === seen.rootHash ? 'same' : 'forked';
}

/** Servers write a root in base64 or in hex; this is base64, or `null` for neither. */
export function rootAsBase64(text: string): string | null {
  if (/^[0-9a-f]{64}$/.test(text)) {
    return encodeBase64(Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)));
  }
  return decodeBase64(text)?.length === 32 ? text : null;
}

export function parseSeen(text: string | null): SeenCheckpoint | null {
  try {
    const value = JSON.parse(text ?? 'null') as Partial<SeenCheckpoint> | null;
    const isWhole =
      typeof value?.origin === 'string' &&
      Number.isSafeInteger(value.treeSize) &&
      typeof value.rootHash === 'string' &&
      typeof value.verifiedAt === 'string';
    return isWhole ? (value as SeenCheckpoint) : null;
  } catch {
    return null;
  }
}

export function readSeen(): SeenCheckpoint | null {
  return parseSeen(readSetting('checkpoint'));
}

/** Keeps it when it is larger than what is kept; tells how the two relate. */
export function remember(present: SeenCheckpoint): Comparison {
  const seen = readSeen();
  const comparison = compareWithSeen(seen?.origin === present.origin ? seen : null, present);
  if (comparison === 'first' || comparison === 'grown') writeSetting('checkpoint', JSON.stringify(present));
  return comparison;
}

export function forgetSeen(): void {
  writeSetting('checkpoint', null);
}

export function readTrustedKey(): string | null {
  return readSetting('log_key');
}

export function writeTrustedKey(key: string | null): void {
  writeSetting('log_key', key);
}
