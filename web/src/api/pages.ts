// Loads a list page by page.

import { useCallback, useEffect, useEffectEvent, useState } from 'react';
import type { CallError } from './client.ts';
import { asCallError } from './query.ts';

export interface ListPage<T> {
  items: T[];
  /** Where the next page begins; nothing after the last. */
  next: string | undefined;
}

export interface Pages<T> {
  /** `undefined` until the first page has come. */
  items: T[] | undefined;
  isLoading: boolean;
  error: CallError | undefined;
  hasMore: boolean;
  more: () => void;
  reload: () => void;
}

/** Starts over whenever `key` changes. What was there stays until the first page has come again. */
export function usePages<T>(key: string, load: (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<T>>): Pages<T> {
  const [pages, setPages] = useState<ListPage<T>[]>();
  const [wanted, setWanted] = useState<{ cursor: string | undefined }>({ cursor: undefined });
  const [isLoading, setIsLoading] = useState(true);
  const [error, setError] = useState<CallError>();
  const start = useEffectEvent(load);

  const [presentKey, setPresentKey] = useState(key);
  if (presentKey !== key) {
    setPresentKey(key);
    setPages(undefined);
    setWanted({ cursor: undefined });
  }

  useEffect(() => {
    const abort = new AbortController();
    setIsLoading(true);
    setError(undefined);
    start(wanted.cursor, abort.signal)
      .then((page) => {
        if (abort.signal.aborted) return;
        setPages((before) => (wanted.cursor === undefined ? [page] : [...(before ?? []), page]));
        setIsLoading(false);
      })
      .catch((thrown: unknown) => {
        if (abort.signal.aborted) return;
        setError(asCallError(thrown));
        setIsLoading(false);
      });
    return () => abort.abort();
  }, [wanted]);

  const reload = useCallback(() => setWanted({ cursor: undefined }), []);
  const next = pages?.at(-1)?.next;
  return {
    items: pages?.flatMap((page) => page.items),
    isLoading,
    error,
    hasMore: next !== undefined,
    more: () => setWanted({ cursor: next }),
    reload,
  };
}
