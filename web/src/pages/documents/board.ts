// Documents as columns of a board, one per status. Pure.

import type { Output } from '../../api/client.ts';
import type { Tone } from '../../parts/page.tsx';

export type Artifact = Output<'list_artifacts'>['artifacts'][number];

/** The statuses of the built-in types, in the order in which documents go through them. A team may have others. */
const LADDER = [
  'Backlog',
  'To Do',
  'Proposed',
  'Draft',
  'In Review',
  'Approved',
  'Accepted',
  'Finalized',
  'Planned',
  'Ready',
  'Active',
  'In Progress',
  'Completed',
  'Done',
  'Deprecated',
  'Superseded',
  'Cancelled',
  'Withdrawn',
];

const TONES: Record<string, Tone> = {
  'In Review': 'info',
  Approved: 'ok',
  Accepted: 'ok',
  Finalized: 'ok',
  Ready: 'ok',
  Active: 'ok',
  'In Progress': 'info',
  Completed: 'ok',
  Done: 'ok',
  Deprecated: 'warn',
  Superseded: 'warn',
  Cancelled: 'warn',
  Withdrawn: 'warn',
};

/** Where documents of some type wait for their approval. */
const FIRST = new Set(['Backlog', 'To Do', 'Proposed', 'Draft', 'Planned']);

export function toneOf(status: string): Tone {
  return Object.hasOwn(TONES, status) ? (TONES[status] ?? 'quiet') : 'quiet';
}

export interface Column {
  status: string;
  artifacts: Artifact[];
}

/** Each document once, in its latest version. */
export function latestOf(artifacts: readonly Artifact[]): Artifact[] {
  const byId = new Map<string, Artifact>();
  for (const artifact of artifacts) {
    const known = byId.get(artifact.id);
    if (known === undefined || known.version < artifact.version) byId.set(artifact.id, artifact);
  }
  return [...byId.values()];
}

export function columnsOf(artifacts: readonly Artifact[]): Column[] {
  const columns = new Map<string, Artifact[]>();
  for (const artifact of artifacts) columns.set(artifact.status, [...(columns.get(artifact.status) ?? []), artifact]);
  const rank = (status: string) => (LADDER.includes(status) ? LADDER.indexOf(status) : LADDER.length);
  return [...columns]
    .map(([status, inside]) => ({ status, artifacts: inside }))
    .toSorted((a, b) => rank(a.status) - rank(b.status) || (a.status < b.status ? -1 : 1));
}

const ID = /^[A-Z]+-\d{3,}$/;

/** Whether asking for an approval makes sense; the server has the last word. */
export function mayBeApproved(artifact: Artifact): boolean {
  const isWaiting = FIRST.has(artifact.status) || !LADDER.includes(artifact.status);
  return isWaiting && artifact.approval == null && ID.test(artifact.id);
}
