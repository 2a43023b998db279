// The filters of the event search: in the address, in the form, and as input of `audit_search`. Pure.

import type { Input } from '../../api/client.ts';

export const PERIODS = ['any', 'hour', 'day', 'week', 'between'] as const;
export type Period = (typeof PERIODS)[number];

export const OUTCOMES = [
  'ok',
  'invalid',
  'denied',
  'not_found',
  'conflict',
  'busy',
  'input_required',
  'upstream',
  'timeout',
  'failed',
  'panicked',
  'cancelled',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Filters {
  /** A call id or any correlation id. */
  id: string;
  actor_id: string;
  operation: string;
  outcome: string;
  period: Period;
  /** As a `datetime-local` field has it: `2026-11-15T20:36`, in the reader's zone. Only for `between`. */
  from: string;
  to: string;
}

export const NO_FILTERS: Filters = { id: '', actor_id: '', operation: '', outcome: '', period: 'any', from: '', to: '' };

const PERIOD_MS: Record<string, number> = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

const CORRELATION_ID = /^[A-Za-z0-9._-]{1,64}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isId(text: string): boolean {
  return CORRELATION_ID.test(text);
}

/** Only these can be the id of a call; asking for another would be refused. */
export function mayBeCallId(text: string): boolean {
  return UUID.test(text);
}

/** Reads an address; what is not a filter is ignored. */
export function parseFilters(search: string): Filters {
  const read = new URLSearchParams(search);
  const text = (name: string) => read.get(name)?.trim() ?? '';
  const period = PERIODS.find((one) => one === text('period')) ?? 'any';
  const isBetween = period === 'between';
  return {
    id: text('id'),
    actor_id: text('actor_id'),
    operation: text('operation'),
    outcome: OUTCOMES.find((one) => one === text('outcome')) ?? '',
    period,
    from: isBetween ? localOf(text('from')) : '',
    to: isBetween ? localOf(text('to')) : '',
  };
}

/** The query string with its `?`, or nothing. Times are in UTC, so that a shared address means the same elsewhere. */
export function formatFilters(filters: Filters): string {
  const written = new URLSearchParams();
  const put = (name: string, value: string | undefined) => value && written.set(name, value);
  put('id', filters.id.trim());
  put('actor_id', filters.actor_id.trim());
  put('operation', filters.operation.trim());
  put('outcome', filters.outcome);
  if (filters.period !== 'any') put('period', filters.period);
  if (filters.period === 'between') {
    put('from', utcOf(filters.from));
    put('to', utcOf(filters.to));
  }
  const text = written.toString();
  return text === '' ? '' : `?${text}`;
}

/** What to ask the server, without the id: that decides which question is asked. */
export function inputOf(filters: Filters, now: Date): Input<'audit_search'> {
  const input: Input<'audit_search'> = {};
  if (filters.actor_id) input.actor_id = filters.actor_id;
  if (filters.operation) input.operation = filters.operation;
  if (filters.outcome) input.outcome = filters.outcome as NonNullable<typeof input.outcome>;
  const back = PERIOD_MS[filters.period];
  if (back !== undefined) input.from = new Date(now.getTime() - back).toISOString();
  if (filters.period === 'between') {
    const [from, to] = [utcOf(filters.from), utcOf(filters.to)];
    if (from) input.from = from;
    if (to) input.to = to;
  }
  return input;
}

function utcOf(local: string): string | undefined {
  const time = new Date(local);
  return local === '' || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

function localOf(utc: string): string {
  const time = new Date(utc);
  if (utc === '' || Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
