// Reading events: page by page, by filters, or everything that belongs to one id.

import { useCallback, useEffect, useState } from 'react';
import type { CallError, Client, Output } from '../../api/client.ts';
import { asCallError } from '../../api/query.ts';
import { useClient } from '../../api/session.tsx';
import { type Filters, inputOf, mayBeCallId } from './filters.ts';

export type Found = Output<'audit_search'>['events'][number];
export type Event = Found['event'];

const PAGE_SIZE = 50;

interface Page {
  events: Found[];
  nextCursor: string | undefined;
}

/** One page. An id may name a call or be a correlation id: where it may be both, both are asked. */
export async function readPage(client: Client, filters: Filters, cursor: string | undefined, signal: AbortSignal): Promise<Page> {
  const input = { ...inputOf(filters, new Date()), limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) };
  if (filters.id === '') return pageOf(await client.call('audit_search', input, { signal }));
  const byCorrelation = client.call('audit_search', { ...input, correlation_id: filters.id }, { signal });
  if (cursor !== undefined || !mayBeCallId(filters.id)) return pageOf(await byCorrelation);
  const [correlated, called] = await Promise.all([
    byCorrelation,
    client.call('audit_search', { ...input, call_id: filters.id }, { signal }),
  ]);
  const page = pageOf(correlated);
  return { ...page, events: withoutDoubles([...called.events, ...page.events]) };
}

function pageOf(answer: Output<'audit_search'>): Page {
  return { events: answer.events, nextCursor: answer.next_cursor ?? undefined };
}

/** An event that came while pages were read may appear on two of them. */
export function withoutDoubles(events: Found[]): Found[] {
  const byCall = new Map(events.map((found) => [found.event.call_id, found]));
  return [...byCall.values()];
}

export interface EventList {
  events: Found[];
  isLoading: boolean;
  error: CallError | undefined;
  hasMore: boolean;
  more: () => void;
  reload: () => void;
}

/** `key` identifies the filters; a change starts over. */
export function useEvents(key: string, filters: Filters): EventList {
  const client = useClient();
  const [pages, setPages] = useState<Page[]>([]);
  const [wanted, setWanted] = useState<{ cursor: string | undefined; round: number }>({ cursor: undefined, round: 0 });
  const [isLoading, setIsLoading] = useState(true);
  const [error, setError] = useState<CallError>();

  const reload = useCallback(() => setWanted((before) => ({ cursor: undefined, round: before.round + 1 })), []);

  const [presentKey, setPresentKey] = useState(key);
  if (presentKey !== key) {
    setPresentKey(key);
    setPages([]);
    setWanted((before) => ({ cursor: undefined, round: before.round + 1 }));
  }

  useEffect(() => {
    const abort = new AbortController();
    setIsLoading(true);
    setError(undefined);
    readPage(client, filters, wanted.cursor, abort.signal)
      .then((page) => {
        if (abort.signal.aborted) return;
        setPages((before) => (wanted.cursor === undefined ? [page] : [...before, page]));
        setIsLoading(false);
      })
      .catch((thrown: unknown) => {
        if (abort.signal.aborted) return;
        setError(asCallError(thrown));
        setIsLoading(false);
      });
    return () => abort.abort();
    // `filters` are those of `key`, and every change of the key makes a new round.
  }, [client, wanted]);

  const nextCursor = pages.at(-1)?.nextCursor;
  return {
    events: withoutDoubles(pages.flatMap((page) => page.events)),
    isLoading,
    error,
    hasMore: nextCursor !== undefined,
    more: () => setWanted((before) => ({ cursor: nextCursor, round: before.round })),
    reload,
  };
}

/** Milliseconds from the first event of a list to each of its events. */
export function offsetMs(event: Event, first: Event): number {
  return new Date(event.time).getTime() - new Date(first.time).getTime();
}

export function inTimeOrder(events: Found[]): Found[] {
  // Call ids are UUIDv7: they break ties of the clock in the order of the calls.
  const key = ({ event }: Found) => `${event.time} ${event.call_id}`;
  return events.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}
