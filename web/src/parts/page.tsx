// The parts of a page: its head, its sections, lists of facts, badges, times.

import { type ReactNode, useEffect, useRef } from 'react';
import { useLanguage } from '../i18n/language.tsx';
import { shell } from '../i18n/messages/shell.ts';
import { Icon, type IconName } from './icon.tsx';
import { formatTime } from './time.ts';

let previousTitle: string | null = null;
/** Whoever goes on before the first page was there has moved, too. */
const arrivedAt = globalThis.location?.pathname;

/** Gives the page its title, in the window and to the reader: the heading takes the focus after a change of page. */
export function PageHead({ title, lead, actions }: { title: string; lead?: ReactNode; actions?: ReactNode }) {
  const { t } = useLanguage();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${t(shell.product)}`;
  }, [title, t]);
  useEffect(() => {
    // The first page is left alone, so that the skip link is the first stop.
    const isFirst = previousTitle === null && globalThis.location?.pathname === arrivedAt;
    if (!isFirst && previousTitle !== document.title) heading.current?.focus();
    previousTitle = document.title;
  }, []);
  return (
    <header className="page-head">
      <div className="page-head-words">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {lead && <p className="page-lead">{lead}</p>}
      </div>
      {actions && <div className="page-actions">{actions}</div>}
    </header>
  );
}

export function Section({ title, lead, actions, children }: { title: string; lead?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className="section">
      <div className="section-head">
        <div>
          <h2>{title}</h2>
          {lead && <p className="section-lead">{lead}</p>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </div>
      {children}
    </section>
  );
}

export interface Fact {
  label: string;
  value: ReactNode;
}

export function Facts({ facts }: { facts: (Fact | null)[] }) {
  return (
    <dl className="facts">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact.label} className="fact">
              <dt>{fact.label}</dt>
              <dd>{fact.value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

export type Tone = 'ok' | 'warn' | 'bad' | 'quiet' | 'info';

const TONE_ICONS: Record<Tone, IconName> = { ok: 'check', warn: 'warning', bad: 'cross', quiet: 'dot', info: 'info' };

/** A word with a colour and a shape: colour alone would not reach everybody. */
export function Badge({ tone, icon, children }: { tone: Tone; icon?: IconName; children: ReactNode }) {
  return (
    <span className={`badge badge-${tone}`}>
      <Icon name={icon ?? TONE_ICONS[tone]} />
      {children}
    </span>
  );
}

/** A sentence that must be seen. */
export function Notice({ tone, title, children }: { tone: Tone; title?: string; children?: ReactNode }) {
  return (
    <div className={`notice notice-${tone}`}>
      <Icon name={TONE_ICONS[tone]} />
      <div>
        {title && <p className="notice-title">{title}</p>}
        {children}
      </div>
    </div>
  );
}

export function Time({ value }: { value: string }) {
  return (
    <time dateTime={value} title={value} className="time">
      {formatTime(value)}
    </time>
  );
}
