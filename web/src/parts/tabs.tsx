// Tabs within a page (arrow keys, one tab stop), and tabs that are pages of their own (plain links).

import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { Link, usePath } from '../router/router.tsx';

export interface Tab {
  id: string;
  label: string;
  panel: ReactNode;
}

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };

export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  const id = useId();
  const [chosen, setChosen] = useState(0);
  const buttons = useRef<(HTMLButtonElement | null)[]>([]);
  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = Number.isFinite(step)
      ? (chosen + step + tabs.length) % tabs.length
      : step > 0
        ? tabs.length - 1
        : 0;
    setChosen(next);
    buttons.current[next]?.focus();
  };
  return (
    <div className="tabs">
      <div className="tabs-row" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map((tab, at) => (
          <button
            key={tab.id}
            ref={(button) => {
              buttons.current[at] = button;
            }}
            type="button"
            role="tab"
            id={`${id}-tab-${tab.id}`}
            aria-selected={at === chosen}
            aria-controls={`${id}-panel-${tab.id}`}
            tabIndex={at === chosen ? 0 : -1}
            className="tab"
            onClick={() => setChosen(at)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      {tabs.map((tab, at) => (
        <div
          key={tab.id}
          role="tabpanel"
          id={`${id}-panel-${tab.id}`}
          aria-labelledby={`${id}-tab-${tab.id}`}
          hidden={at !== chosen}
          tabIndex={0}
          className="tab-panel"
        >
          {tab.panel}
        </div>
      ))}
    </div>
  );
}

export function PageTabs({ label, tabs }: { label: string; tabs: { to: string; label: string }[] }) {
  const path = usePath();
  return (
    <nav className="tabs-row page-tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.to} to={tab.to} className="tab" aria-current={path === tab.to.split('?')[0] ? 'page' : undefined}>
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}
