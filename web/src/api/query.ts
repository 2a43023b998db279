// Loads something for a component and tells how it stands.

import { useCallback, useEffect, useEffectEvent, useState } from 'react';
import { CallError } from './client.ts';

export type Loaded<T> =
  | { is: 'loading'; data?: T | undefined }
  | { is: 'ready'; data: T }
  | { is: 'failed'; error: CallError; data?: T | undefined };

export type Query<T> = Loaded<T> & { reload: () => void };

/**
 * Loads again whenever `key` changes; an answer to an older key is dropped. With `key` null nothing is loaded. What was
 * there stays in `data` while the next answer is on its way, so that pages do not flicker.
 */
export function useQuery<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Query<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ is: 'loading' });
  const [round, setRound] = useState(0);
  const start = useEffectEvent(load);

  useEffect(() => {
    if (key === null) return;
    const abort = new AbortController();
    setLoaded((before) => ({ is: 'loading', data: before.data }));
    start(abort.signal)
      .then((data) => {
        if (!abort.signal.aborted) setLoaded({ is: 'ready', data });
      })
      .catch((error: unknown) => {
        if (!abort.signal.aborted) setLoaded((before) => ({ is: 'failed', error: asCallError(error), data: before.data }));
      });
    return () => abort.abort();
  }, [key, round]);

  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...loaded, reload };
}

/** A mistake of the page itself is shown like any other failure, and told to the console. */
export function asCallError(error: unknown): CallError {
  if (error instanceof CallError) return error;
  console.error(error);
  return new CallError({ code: 'INTERNAL', message: 'the page could not read the answer', status: 0, cause: error });
}
