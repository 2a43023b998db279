// Inclusion in the Merkle tree of RFC 6962.

import { isEqual } from './base64.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

export function join(...parts: Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A leaf and an inner node are hashed under different prefixes, so that neither can be passed off as the other. */
export function hashLeaf(leaf: Bytes): Promise<Bytes> {
  return sha256(join(Uint8Array.of(0), leaf));
}

export function hashNode(left: Bytes, right: Bytes): Promise<Bytes> {
  return sha256(join(Uint8Array.of(1), left, right));
}

export interface Inclusion {
  leafHash: Bytes;
  leafIndex: number;
  treeSize: number;
  /** From the leaf's sibling up to the root's child. */
  path: Bytes[];
}

/** The root that the path leads to, or `null` when the path has not the one length that this tree needs. */
export async function rootOf({ leafHash, leafIndex, treeSize, path }: Inclusion): Promise<Bytes | null> {
  if (!Number.isSafeInteger(leafIndex) || !Number.isSafeInteger(treeSize)) return null;
  if (leafIndex < 0 || leafIndex >= treeSize) return null;
  // RFC 9162 § 2.1.3.2. Division, not shifts: shifts cut to 32 bits.
  let at = leafIndex;
  let last = treeSize - 1;
  let root = leafHash;
  for (const sibling of path) {
    if (last === 0) return null;
    if (at % 2 === 1 || at === last) {
      root = await hashNode(sibling, root);
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2);
        last = Math.floor(last / 2);
      }
    } else {
      root = await hashNode(root, sibling);
    }
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? root : null;
}

export async function isIncluded(inclusion: Inclusion, root: Bytes): Promise<boolean> {
  const computed = await rootOf(inclusion);
  return computed !== null && isEqual(computed, root);
}
