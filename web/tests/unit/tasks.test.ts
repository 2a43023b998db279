// Tasks: what is asked for, who holds them, what is offered.

import { describe, expect, test } from 'vitest';
import { actionsOf, formatTaskFilters, hasMandatory, holderOf, inputOf, parseTaskFilters, type Task } from '../../src/pages/tasks/tasks.ts';

const TASK: Task = {
  task_id: 'TASK-001',
  project_id: 'demo',
  artifact_id: 'HLS-001',
  generator: 'hls-generator',
  status: 'pending',
  description: 'Generate HLS-001',
  inputs: [],
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};

test.each(['', '?project=demo', '?depends_on=PRD-006', '?project=demo&depends_on=PRD-006&missing=mandatory'])('the filters of %j come back', (search) => {
  expect(formatTaskFilters(parseTaskFilters(search))).toBe(search);
});

test('what is no filter is not asked for', () => {
  const filters = parseTaskFilters('?project=a%20b&missing=else&other=1');
  expect(inputOf(filters, 'pending')).toEqual({ status: 'pending' });
  expect(inputOf(parseTaskFilters('?project=demo&depends_on=PRD-006&missing=mandatory'), 'completed')).toEqual({
    status: 'completed',
    project_id: 'demo',
    depends_on: 'PRD-006',
    missing_mandatory_inputs: true,
  });
});

describe('a task', () => {
  const now = new Date('2026-01-02T00:00:00Z');
  const claimed: Task = { ...TASK, status: 'in_progress', claimed_by: 'ward-7', lease_expires_at: '2026-01-02T00:00:01Z' };

  test('is held by nobody, me, another, or one whose time is over', () => {
    expect(holderOf(TASK, 'ward-7', now)).toBe('nobody');
    expect(holderOf(claimed, 'ward-7', now)).toBe('me');
    expect(holderOf(claimed, 'ward-8', now)).toBe('other');
    expect(holderOf({ ...claimed, lease_expires_at: '2026-01-02T00:00:00Z' }, 'ward-7', now)).toBe('late');
    expect(holderOf({ ...claimed, lease_expires_at: null }, 'ward-8', now)).toBe('other');
  });

  test('offers what its state allows', () => {
    expect(actionsOf(TASK, 'ward-7')).toEqual(['start']);
    expect(actionsOf(claimed, 'ward-7')).toEqual(['complete', 'renew', 'reset']);
    expect(actionsOf(claimed, 'ward-8')).toEqual(['reset']);
    expect(actionsOf({ ...TASK, status: 'in_progress' }, 'ward-8')).toEqual(['complete', 'reset']);
    expect(actionsOf({ ...TASK, status: 'completed' }, 'ward-7')).toEqual(['reset']);
  });

  test('says whether it lacks what it must have', () => {
    const input = { name: 'prd', artifact_type: 'prd', artifact_id: 'PRD-006', resource_path: '', mcp_resource_uri: '', status: 'Approved' };
    expect(hasMandatory(TASK)).toBe(false);
    expect(hasMandatory({ ...TASK, inputs: [{ ...input, classification: 'recommended' }] })).toBe(false);
    expect(hasMandatory({ ...TASK, inputs: [{ ...input, classification: 'mandatory' }] })).toBe(true);
  });
});
