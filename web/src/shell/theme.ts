// Light or dark: as the system has it, or as this person wants it.

import { useSyncExternalStore } from 'react';
import { isOneOf, readSetting, writeSetting } from './kept.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const CHANGED = 'materia:theme';

let present: Theme = (() => {
  const kept = readSetting('theme');
  return isOneOf(THEMES, kept) ? kept : 'system';
})();

export function setTheme(theme: Theme): void {
  present = theme;
  writeSetting('theme', theme === 'system' ? null : theme);
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  dispatchEvent(new Event(CHANGED));
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (notify) => {
      addEventListener(CHANGED, notify);
      return () => removeEventListener(CHANGED, notify);
    },
    () => present,
  );
}

export function nextTheme(): Theme {
  return THEMES[(THEMES.indexOf(present) + 1) % THEMES.length] ?? 'system';
}
