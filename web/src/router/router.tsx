// The address bar as state, and links that change it without loading the page again.

import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from 'react';
import { parsePath, type Route } from './routes.ts';

const CHANGED = 'materia:navigated';

function subscribe(notify: () => void): () => void {
  addEventListener('popstate', notify);
  addEventListener(CHANGED, notify);
  return () => {
    removeEventListener('popstate', notify);
    removeEventListener(CHANGED, notify);
  };
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname);
}

export function useRoute(): Route {
  return parsePath(usePath());
}

/** The query string with its `?`, or nothing. */
export function useSearch(): string {
  return useSyncExternalStore(subscribe, () => location.search);
}

export type HistoryStep = 'push' | 'replace';

export function navigate(to: string, step: HistoryStep = 'push'): void {
  if (step === 'push') history.pushState(null, '', to);
  else history.replaceState(null, '', to);
  dispatchEvent(new Event(CHANGED));
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string };

export function Link({ to, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain) return;
    event.preventDefault();
    navigate(to);
  };
  return <a {...rest} href={to} onClick={follow} />;
}
