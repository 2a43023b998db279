// The frame around every page: skip link, navigation (a rail, or a bar on narrow screens), and the page.

import { type ReactNode, useEffect, useState } from 'react';
import { useSession } from '../api/session.tsx';
import { useLanguage } from '../i18n/language.tsx';
import type { Message } from '../i18n/message.ts';
import { shell } from '../i18n/messages/shell.ts';
import { Button } from '../parts/button.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Link, usePath, useRoute } from '../router/router.tsx';
import { pathOf, type Route } from '../router/routes.ts';
import { LanguageSwitch, ThemeSwitch } from './appearance.tsx';
import { ShortcutsDialog, useShortcuts } from './shortcuts.tsx';

const PLACES: { label: Message; icon: IconName; to: string; pages: Route['page'][] }[] = [
  { label: shell.home, icon: 'home', to: pathOf({ page: 'home' }), pages: ['home'] },
  { label: shell.search, icon: 'search', to: pathOf({ page: 'search' }), pages: ['search'] },
  { label: shell.graph, icon: 'graph', to: pathOf({ page: 'graph' }), pages: ['graph'] },
  { label: shell.herbs, icon: 'herb', to: pathOf({ page: 'herbs' }), pages: ['herbs', 'herb'] },
  {
    label: shell.documents,
    icon: 'documents',
    to: pathOf({ page: 'documents' }),
    pages: ['documents', 'document', 'new_document', 'edit_document', 'changes'],
  },
  { label: shell.tasks, icon: 'tasks', to: pathOf({ page: 'tasks' }), pages: ['tasks'] },
  {
    label: shell.audit,
    icon: 'audit',
    to: pathOf({ page: 'audit' }),
    pages: ['audit', 'event', 'integrity', 'proof'],
  },
  { label: shell.settings, icon: 'settings', to: pathOf({ page: 'settings', section: 'keys' }), pages: ['settings'] },
];

export function Shell({ children }: { children: ReactNode }) {
  const { t } = useLanguage();
  const path = usePath();
  const [isMenuOpen, setIsMenuOpen] = useState(false);
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  useShortcuts(() => setIsHelpOpen(true));
  useEffect(() => setIsMenuOpen(false), [path]);
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={skip}>
        {t(shell.skip)}
      </a>
      <header
        className={isMenuOpen ? 'rail is-open' : 'rail'}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setIsMenuOpen(false);
        }}
      >
        <div className="rail-head">
          <Link to="/" className="brand">
            <Mark />
            <span>{t(shell.product)}</span>
          </Link>
          <button
            type="button"
            className="menu-button"
            aria-expanded={isMenuOpen}
            aria-controls="rail-body"
            onClick={() => setIsMenuOpen(!isMenuOpen)}
          >
            <Icon name={isMenuOpen ? 'close' : 'menu'} />
            <span>{t(shell.menu)}</span>
          </button>
        </div>
        <div className="rail-body" id="rail-body">
          <Navigation />
          <div className="rail-foot">
            <LanguageSwitch place="rail" />
            <ThemeSwitch place="rail" />
            <button type="button" className="rail-link" onClick={() => setIsHelpOpen(true)}>
              <Icon name="keyboard" />
              <span>{t(shell.shortcuts)}</span>
              <kbd aria-hidden="true">?</kbd>
            </button>
            <SignedInAs />
          </div>
        </div>
      </header>
      <main id="main" className="main" tabIndex={-1}>
        {children}
      </main>
      {isHelpOpen && <ShortcutsDialog onClose={() => setIsHelpOpen(false)} />}
    </div>
  );
}

/** The fragment of the address stays free for the token of the start URL. */
function skip(event: { preventDefault: () => void }) {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Navigation() {
  const { t } = useLanguage();
  const route = useRoute();
  return (
    <nav aria-label={t(shell.navigation)}>
      <ul>
        {PLACES.map(({ label, icon, to, pages }) => (
          <li key={to}>
            <Link to={to} className="rail-link" aria-current={pages.includes(route.page) ? 'page' : undefined}>
              <Icon name={icon} />
              <span>{t(label)}</span>
            </Link>
          </li>
        ))}
        <li>
          {/* Served by the server itself, outside of these pages. */}
          <a href="/api" className="rail-link">
            <Icon name="operations" />
            <span>{t(shell.operations)}</span>
          </a>
        </li>
      </ul>
    </nav>
  );
}

function SignedInAs() {
  const { t } = useLanguage();
  const { state, actor, signOut } = useSession();
  const [hasFailed, setHasFailed] = useState(false);
  if (state.is !== 'signed_in') return null;
  const leave = () => {
    setHasFailed(false);
    signOut().catch(() => setHasFailed(true));
  };
  return (
    <div className="rail-actor">
      {actor !== null && <p>{t(shell.signedInAs, { actor })}</p>}
      <Button look="quiet" onClick={leave}>
        {t(shell.signOut)}
      </Button>
      {hasFailed && <p role="alert">{t(shell.signOutFailed)}</p>}
    </div>
  );
}

export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" />
      <path d="M8 23V9h3l5 7 5-7h3v14h-3v-9l-5 7-5-7v9z" />
    </svg>
  );
}
