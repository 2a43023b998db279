// Which two states of a document are compared. Pure.

import type { Output } from '../../api/client.ts';

export type Revision = Output<'list_artifact_revisions'>['revisions'][number];

/** `2.1`: the first state of version 2. */
export function nameOf({ version, revision }: Pick<Revision, 'version' | 'revision'>): string {
  return `${version}.${revision}`;
}

/** The states that the address names; else the last two. */
export function chosen(revisions: readonly Revision[], search: string): { from: Revision | undefined; to: Revision | undefined } {
  const read = new URLSearchParams(search);
  const find = (name: string) => revisions.find((revision) => nameOf(revision) === read.get(name));
  return { from: find('from') ?? revisions.at(-2), to: find('to') ?? revisions.at(-1) };
}
