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

export type Relation = 'first' | 'grown' | 'same' | 'older' | 'forked';

/** How an answer relates to what was seen before it was asked for. It is told once and kept: the memory grows meanwhile. */
export interface Comparison {
  relation: Relation;
  seenSize: number;
}

/** What a checkpoint says of the log. */
export type Head = Pick<SeenCheckpoint, 'treeSize' | 'rootHash'>;

export function compare(seen: SeenCheckpoint | null, present: Head): Comparison {
  return { relation: relate(seen, present), seenSize: seen?.treeSize ?? 0 };
}

/** `older` is no proof of wrongdoing: a backup may have been restored. `forked` is. */
export function relate(seen: SeenCheckpoint | null, present: Head): Relation {
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

/**
 * Keeps it when it is larger than what is kept; tells how it relates to what was seen before the server was asked. What
 * another tab has seen since may be larger, and the server has not gone back for that.
 */
export function remember(present: SeenCheckpoint, seen: SeenCheckpoint | null): Comparison {
  const ofSameLog = (one: SeenCheckpoint | null) => (one?.origin === present.origin ? one : null);
  const kept = relate(ofSameLog(readSeen()), present);
  if (kept === 'first' || kept === 'grown') writeSetting('checkpoint', JSON.stringify(present));
  return compare(ofSameLog(seen), present);
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
