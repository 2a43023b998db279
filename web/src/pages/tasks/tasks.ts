// Tasks: which are asked for, and what may be done with one. Pure.

import type { Input, Output } from '../../api/client.ts';
import { projectOf } from '../documents/place.ts';

export type Task = Output<'list_tasks'>['tasks'][number];
export type TaskInput = Task['inputs'][number];

export const STATUSES = ['pending', 'in_progress', 'completed'] as const;
export type Status = (typeof STATUSES)[number];

export interface TaskFilters {
  project_id?: string;
  /** Only tasks with this document among their inputs. */
  depends_on: string;
  missing_mandatory_inputs: boolean;
}

export function parseTaskFilters(search: string): TaskFilters {
  const read = new URLSearchParams(search);
  return {
    ...projectOf(read),
    depends_on: (read.get('depends_on') ?? '').trim().slice(0, 64),
    missing_mandatory_inputs: read.get('missing') === 'mandatory',
  };
}

/** The query string with its `?`, or nothing. */
export function formatTaskFilters(filters: { project_id?: string; depends_on: string; missing_mandatory_inputs: boolean }): string {
  const written = new URLSearchParams();
  if (filters.project_id) written.set('project', filters.project_id);
  if (filters.depends_on) written.set('depends_on', filters.depends_on);
  if (filters.missing_mandatory_inputs) written.set('missing', 'mandatory');
  return written.size > 0 ? `?${written}` : '';
}

export function inputOf(filters: TaskFilters, status: Status): Input<'list_tasks'> {
  const { project_id, depends_on, missing_mandatory_inputs } = filters;
  return {
    status,
    ...(project_id ? { project_id } : {}),
    ...(depends_on ? { depends_on } : {}),
    ...(missing_mandatory_inputs ? { missing_mandatory_inputs } : {}),
  };
}

export function hasMandatory(task: Task): boolean {
  return task.inputs.some((input) => input.classification === 'mandatory');
}

/** Who holds a task: nobody, the reader, somebody else, or somebody whose time is over. */
export type Holder = 'nobody' | 'me' | 'other' | 'late';

export function holderOf(task: Task, me: string | null, now: Date): Holder {
  if (task.claimed_by == null) return 'nobody';
  if (task.lease_expires_at != null && new Date(task.lease_expires_at) <= now) return 'late';
  return task.claimed_by === me ? 'me' : 'other';
}

export type Action = 'start' | 'renew' | 'complete' | 'reset';

/** What the page offers; the server decides. */
export function actionsOf(task: Task, me: string | null): Action[] {
  switch (task.status) {
    case 'pending':
      return ['start'];
    case 'in_progress':
      if (task.claimed_by == null) return ['complete', 'reset'];
      return task.claimed_by === me ? ['complete', 'renew', 'reset'] : ['reset'];
    case 'completed':
      return ['reset'];
  }
}
