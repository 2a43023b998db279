// What was last asked on a page. It may be about a patient, so it lives in this tab as long as the session that asked,
// and neither in the address nor in the browser's storage.

import { useState } from 'react';
import { useTools } from '../api/session.tsx';

const memory = new WeakMap<object, Map<string, unknown>>();

/** As `useState`, but the next page of the same name begins with the last value. */
export function useRemembered<T>(name: string, initial: T): [T, (value: T) => void] {
  // The list of operations is asked for once in a session.
  const session = useTools();
  const [value, setValue] = useState(() => (memory.get(session)?.get(name) as T | undefined) ?? initial);
  const keep = (next: T) => {
    remember(session, name, next);
    setValue(next);
  };
  return [value, keep];
}

export function remember(session: object, name: string, value: unknown): void {
  const kept = memory.get(session) ?? new Map<string, unknown>();
  memory.set(session, kept.set(name, value));
}
