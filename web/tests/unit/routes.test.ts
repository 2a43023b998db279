// Addresses, both ways.

import { describe, expect, test } from 'vitest';
import { parsePath, pathOf, type Route } from '../../src/router/routes.ts';

const ROUTES: [string, Exclude<Route, { page: 'not_found' }>][] = [
  ['/', { page: 'home' }],
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

  test.each(['/nothing', '/audit/events', '/audit/events/', '/audit/events/a/b', '/audit/events/%zz', '/settings/nothing', '/settings/keys/x', '/audit/x'])(
    '%s is no page',
    (path) => {
      expect(parsePath(path)).toEqual({ page: 'not_found', path });
    },
  );
});
