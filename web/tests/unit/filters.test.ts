// Filters of the event search in the address and as input.

import { describe, expect, test } from 'vitest';
import { inTimeOrder, offsetMs, withoutDoubles, type Found } from '../../src/pages/audit/events.ts';
import { formatFilters, inputOf, isId, mayBeCallId, NO_FILTERS, parseFilters } from '../../src/pages/audit/filters.ts';

const NOW = new Date('2026-11-15T12:00:00.000Z');

test('no filter is no query string', () => {
  expect(formatFilters(NO_FILTERS)).toBe('');
  expect(parseFilters('')).toEqual(NO_FILTERS);
  expect(inputOf(NO_FILTERS, NOW)).toEqual({});
});

test('filters survive the address', () => {
  const filters = { ...NO_FILTERS, id: 'T-4', actor_id: 'owner', operation: 'audit_search', outcome: 'denied', period: 'day' as const };
  expect(formatFilters(filters)).toBe('?id=T-4&actor_id=owner&operation=audit_search&outcome=denied&period=day');
  expect(parseFilters(formatFilters(filters))).toEqual(filters);
});

test('times between survive the address and are in UTC there', () => {
  const filters = { ...NO_FILTERS, period: 'between' as const, from: '2026-11-15T20:36', to: '2026-11-16T00:00' };
  const address = formatFilters(filters);
  expect(new URLSearchParams(address).get('from')).toBe(new Date('2026-11-15T20:36').toISOString());
  expect(parseFilters(address)).toEqual(filters);
});

test('nonsense in the address is ignored', () => {
  expect(parseFilters('?outcome=great&period=century&from=x&to=y&other=1')).toEqual(NO_FILTERS);
  expect(parseFilters('?period=between&from=x')).toEqual({ ...NO_FILTERS, period: 'between' });
});

test('a period counts back from now', () => {
  expect(inputOf({ ...NO_FILTERS, period: 'hour' }, NOW)).toEqual({ from: '2026-11-15T11:00:00.000Z' });
  expect(inputOf({ ...NO_FILTERS, period: 'week' }, NOW)).toEqual({ from: '2026-11-08T12:00:00.000Z' });
});

test('ids are told apart', () => {
  expect(['T-4', 'run_1.2', 'x'.repeat(64)].every(isId)).toBe(true);
  expect(['', 'a b', 'x'.repeat(65), 'ก', 'a/b'].some(isId)).toBe(false);
  expect(mayBeCallId('0199f000-0000-7000-8000-000000000001')).toBe(true);
  expect(mayBeCallId('0199F000-0000-7000-8000-000000000001')).toBe(false);
  expect(mayBeCallId('T-4')).toBe(false);
});

describe('lists of events', () => {
  const found = (call_id: string, time: string) => ({ leaf_index: 0, event: { call_id, time } }) as Found;
  const a = found('a', '2026-11-15T12:00:00.000001Z');
  const b = found('b', '2026-11-15T12:00:00.000001Z');
  const c = found('c', '2026-11-15T12:00:01.500000Z');

  test('come in the order they happened, ties by call id', () => {
    expect(inTimeOrder([c, b, a])).toEqual([a, b, c]);
  });

  test('hold each call once', () => {
    expect(withoutDoubles([a, b, a])).toEqual([a, b]);
  });

  test('tell the time since the first', () => {
    expect(offsetMs(c.event, a.event)).toBe(1_500);
  });
});
