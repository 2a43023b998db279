// Whether a statement stands: who verified it and the way it came here, and what it rests on. Pure.

import type { Output } from '../api/client.ts';

export type Relation = Output<'read_node'>['relations'][number];
export type RetractedReference = NonNullable<Relation['retracted']>[number];
export type SameAs = NonNullable<Relation['same_as']>;

/** What an answer tells of a statement beside the record of its edge. */
export type Told = Pick<Relation, 'verified' | 'same_as' | 'retracted'>;

export interface Check {
  /** `undefined`: nobody said anything of it. */
  isVerified: boolean | undefined;
  /** The statement itself was verified, and not that it holds here. */
  isWayDoubted: boolean;
}

/**
 * Verified only if everything is by which it came here: the mark of the answer counts, never that of the edge alone.
 * `stated` is what the edge says of itself, `isDoubted` whether the answer doubts the way.
 */
export function standingOf(told: Told, stated: boolean | undefined, isDoubted = false): Check {
  const isWayDoubted = isDoubted || told.same_as?.verified === false;
  if (told.verified && !isWayDoubted) return { isVerified: true, isWayDoubted: false };
  return { isVerified: stated === undefined && !isWayDoubted ? undefined : false, isWayDoubted: stated === true && isWayDoubted };
}
