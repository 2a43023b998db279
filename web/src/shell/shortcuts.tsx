// Keyboard shortcuts: single keys and `g` followed by a letter. They can be switched off, as WCAG 2.1.4 asks.

import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useLanguage } from '../i18n/language.tsx';
import { shell } from '../i18n/messages/shell.ts';
import type { Message } from '../i18n/message.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Notice } from '../parts/page.tsx';
import { navigate } from '../router/router.tsx';
import { pathOf } from '../router/routes.ts';
import { readSetting, writeSetting } from './kept.ts';
import { nextTheme, setTheme } from './theme.ts';

const SEQUENCE_WITHIN_MS = 1_500;

/** How long a page that `/` opens may take to show its field. */
const FIELD_WITHIN_MS = 10_000;

/** Marks the field that `/` jumps to. */
export const SEARCH_FIELD = { 'data-search-field': '' };

export function hasShortcuts(): boolean {
  return readSetting('shortcuts') !== 'off';
}

export function setShortcuts(isOn: boolean): void {
  writeSetting('shortcuts', isOn ? null : 'off');
}

const KEYS: { keys: string[]; does: Message }[] = [
  { keys: ['?'], does: shell.keyHelp },
  { keys: ['/'], does: shell.keySearch },
  { keys: ['g', 'h'], does: shell.keyHome },
  { keys: ['g', 'e'], does: shell.keySearchPage },
  { keys: ['g', 'g'], does: shell.keyGraph },
  { keys: ['g', 'b'], does: shell.keyHerbs },
  { keys: ['g', 'd'], does: shell.keyDocuments },
  { keys: ['g', 't'], does: shell.keyTasks },
  { keys: ['g', 'a'], does: shell.keyAudit },
  { keys: ['g', 's'], does: shell.keySettings },
  { keys: ['t'], does: shell.keyTheme },
  { keys: ['l'], does: shell.keyLanguage },
  { keys: ['Esc'], does: shell.keyEscape },
];

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

function search(): void {
  const here = document.querySelector<HTMLElement>('[data-search-field]');
  if (here !== null) return here.focus();
  navigate(pathOf({ page: 'search' }));
  focusWhenDrawn(performance.now() + FIELD_WITHIN_MS);
}

/** The field exists only after the page was loaded and drawn; who goes on to another page meanwhile is not followed there. */
function focusWhenDrawn(until: number): void {
  requestAnimationFrame(() => {
    if (location.pathname !== pathOf({ page: 'search' })) return;
    const field = document.querySelector<HTMLElement>('[data-search-field]');
    // The heading takes the focus after the page was drawn; the field takes it from there.
    if (field !== null) requestAnimationFrame(() => field.focus());
    else if (performance.now() < until) focusWhenDrawn(until);
  });
}

export function useShortcuts(openHelp: () => void): void {
  const { language, setLanguage } = useLanguage();
  const goPressedAt = useRef(-Infinity);
  const press = useEffectEvent((event: KeyboardEvent) => {
    const isModified = event.ctrlKey || event.metaKey || event.altKey;
    if (isModified || event.defaultPrevented || isTyping(event.target) || !hasShortcuts()) return;
    if (document.querySelector('dialog[open]')) return;
    const isSecond = event.timeStamp - goPressedAt.current < SEQUENCE_WITHIN_MS;
    goPressedAt.current = !isSecond && event.key === 'g' ? event.timeStamp : -Infinity;
    const single: Record<string, () => void> = {
      '?': openHelp,
      '/': search,
      t: () => setTheme(nextTheme()),
      l: () => setLanguage(language === 'en' ? 'th' : 'en'),
    };
    const afterGo: Record<string, () => void> = {
      h: () => navigate(pathOf({ page: 'home' })),
      e: () => navigate(pathOf({ page: 'search' })),
      g: () => navigate(pathOf({ page: 'graph' })),
      b: () => navigate(pathOf({ page: 'herbs' })),
      d: () => navigate(pathOf({ page: 'documents' })),
      t: () => navigate(pathOf({ page: 'tasks' })),
      a: () => navigate(pathOf({ page: 'audit' })),
      s: () => navigate(pathOf({ page: 'settings', section: 'keys' })),
    };
    const action = (isSecond ? afterGo : single)[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => press(event);
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const { t } = useLanguage();
  const [isOn] = useState(hasShortcuts);
  return (
    <Dialog title={t(shell.shortcuts)} onClose={onClose}>
      {!isOn && (
        <Notice tone="info">
          <p>{t(shell.shortcutsOff)}</p>
        </Notice>
      )}
      <dl className="shortcuts">
        {KEYS.map(({ keys, does }) => (
          <div key={keys.join(' ')}>
            <dt>
              {keys.map((key, at) => (
                <span key={key}>
                  {at > 0 && <span className="shortcuts-then"> {t(shell.then)} </span>}
                  <kbd>{key}</kbd>
                </span>
              ))}
            </dt>
            <dd>{t(does)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
