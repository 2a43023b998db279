// Addresses, both ways.

import { describe, expect, test } from 'vitest';
import { parsePath, pathOf, pathOfDocument, type Route } from '../../src/router/routes.ts';

const ROUTES: [string, Exclude<Route, { page: 'not_found' }>][] = [
  ['/', { page: 'home' }],
  ['/documents', { page: 'documents' }],
  ['/documents/new', { page: 'new_document' }],
  ['/documents/PRD-006', { page: 'document', id: 'PRD-006' }],
  ['/documents/a%2Fb', { page: 'document', id: 'a/b' }],
  ['/documents/PRD-006/edit', { page: 'edit_document', id: 'PRD-006' }],
  ['/documents/PRD-006/changes', { page: 'changes', id: 'PRD-006' }],
  ['/tasks', { page: 'tasks' }],
  ['/search', { page: 'search' }],
  ['/graph', { page: 'graph' }],
  ['/herbs', { page: 'herbs' }],
  ['/herbs/testwort', { page: 'herb', id: 'testwort' }],
  ['/audit', { page: 'audit' }],
  ['/audit/integrity', { page: 'integrity' }],
  ['/audit/proof', { page: 'proof' }],
  ['/audit/events/0199f000-0000-7000-8000-000000000001', { page: 'event', call_id: '0199f000-0000-7000-8000-000000000001' }],
  ['/audit/events/a%2Fb', { page: 'event', call_id: 'a/b' }],
  ['/settings/keys', { page: 'settings', section: 'keys' }],
  ['/settings/browser', { page: 'settings', section: 'browser' }],
];

describe('an address', () => {
  test.each(ROUTES)('%s is its page, and back', (path, route) => {
    expect(parsePath(path)).toEqual(route);
    expect(pathOf(route)).toBe(path);
  });

  test.each([
    ['/settings', { page: 'settings', section: 'keys' }],
    ['/audit/', { page: 'audit' }],
    ['/settings/models/', { page: 'settings', section: 'models' }],
  ])('%s is understood too', (path, route) => {
    expect(parsePath(path)).toEqual(route);
  });

  test.each(['/nothing', '/audit/events', '/audit/events/', '/audit/events/a/b', '/audit/events/%zz', '/settings/nothing', '/settings/keys/x', '/audit/x', '/documents/PRD-006/x', '/documents/new/edit', '/documents/%zz', '/tasks/x', '/search/x', '/graph/x', '/herbs/%zz', '/herbs/a/b'])(
    '%s is no page',
    (path) => {
      expect(parsePath(path)).toEqual({ page: 'not_found', path });
    },
  );
});

test('a document is addressed with its version and project', () => {
  expect(pathOfDocument({ id: 'PRD-006' })).toBe('/documents/PRD-006');
  expect(pathOfDocument({ id: 'PRD-006', version: 2, project_id: 'demo' }, 'changes')).toBe('/documents/PRD-006/changes?version=2&project=demo');
});
