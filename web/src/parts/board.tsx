// Boards: columns of cards. Columns that do not fit side by side stand below each other.

import { type ReactNode, useId } from 'react';
import { useLanguage } from '../i18n/language.tsx';
import { parts } from '../i18n/messages/parts.ts';
import { Button } from './button.tsx';
import { Loading } from './states.tsx';

export function Board({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section className="board" aria-label={label}>
      {children}
    </section>
  );
}

interface ColumnProps {
  title: ReactNode;
  /** How many cards are there; nothing until they are known. */
  count: number | undefined;
  hasMore?: boolean;
  isLoading?: boolean;
  onMore?: () => void;
  /** What is said when there is none. */
  empty: string;
  children: ReactNode;
}

export function BoardColumn({ title, count, hasMore = false, isLoading = false, onMore, empty, children }: ColumnProps) {
  const { t, number } = useLanguage();
  const heading = useId();
  return (
    <section className="board-column" aria-labelledby={heading}>
      <h2 id={heading}>
        {title} {count !== undefined && <span className="board-count">{hasMore ? `${number(count)}+` : number(count)}</span>}
      </h2>
      {count === undefined && isLoading && <Loading />}
      {count === 0 && <p className="board-empty">{empty}</p>}
      {count !== undefined && count > 0 && <ul className="board-cards">{children}</ul>}
      {hasMore && onMore && (
        <Button look="quiet" onClick={onMore} isBusy={isLoading}>
          {t(parts.more)}
        </Button>
      )}
    </section>
  );
}

export function BoardCard({ heading, children }: { heading: ReactNode; children: ReactNode }) {
  return (
    <li className="board-card">
      <h3>{heading}</h3>
      {children}
    </li>
  );
}
