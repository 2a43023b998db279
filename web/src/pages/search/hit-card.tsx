// One hit: what it is, where it says what was asked for, why it was found, who says it.

import { type ReactNode, useId } from 'react';
import { AbstractBadge, KindTag, RetractionBadge } from '../../evidence/badges.tsx';
import { SourceLine } from '../../evidence/source-line.tsx';
import type { Sources } from '../../evidence/sources.ts';
import { useWords } from '../../evidence/words.ts';
import { useLanguage } from '../../i18n/language.tsx';
import { search as words } from '../../i18n/messages/search.ts';
import { cutMatches, type Hit, inOneLine, isDocument, type Reason } from './asked.ts';

interface Props {
  hit: Hit;
  reason: Reason | undefined;
  sources: Sources;
  nameOf: (id: string) => string;
  isSelected: boolean;
  onSelect: (isSelected: boolean) => void;
  /** What can be done with it. */
  actions: ReactNode;
}

export function HitCard({ hit, reason, sources, nameOf, isSelected, onSelect, actions }: Props) {
  const { t } = useLanguage();
  const { retraction } = useWords();
  const heading = useId();
  return (
    <li className="hit">
      <article aria-labelledby={heading}>
        <div className="hit-head">
          {isDocument(hit) && (
            <input
              type="checkbox"
              className="hit-check"
              checked={isSelected}
              onChange={({ target }) => onSelect(target.checked)}
              aria-label={t(words.select, { title: hit.title })}
            />
          )}
          <div className="hit-words">
            <h3 id={heading}>{hit.title || hit.id}</h3>
            <p className="hit-line">
              <KindTag kind={hit.type} />
              {hit.year != null && <span>{hit.year}</span>}
              <RetractionBadge status={hit.retraction} source={hit.retraction_source} />
              {hit.type === 'paper' && hit.retraction === 'none_known' && <span>{retraction('none_known')}</span>}
              <AbstractBadge by={hit.abstract_by} />
            </p>
          </div>
        </div>
        <p className="hit-snippet">
          {cutMatches(hit.snippet, hit.matches).map((piece, at) =>
            piece.isMatch ? <mark key={at}>{piece.text}</mark> : <span key={at}>{inOneLine(piece.text)}</span>,
          )}
        </p>
        <Why score={hit.score} reason={reason} nameOf={nameOf} />
        <div className="hit-foot">
          <SourceLine id={hit.source} sources={sources} />
          <span className="row">{actions}</span>
        </div>
      </article>
    </li>
  );
}

function Why({ score, reason, nameOf }: { score: number; reason: Reason | undefined; nameOf: (id: string) => string }) {
  const { t } = useLanguage();
  return (
    <dl className="why" aria-label={t(words.why)}>
      <Bar label={t(words.score)} value={score} />
      {reason && <Bar label={t(words.words)} value={reason.bm25} />}
      {reason && <Bar label={t(words.meaning)} value={reason.vector} />}
      {reason && reason.entities.length > 0 && (
        <div className="why-names">
          <dt>{t(words.names)}</dt>
          <dd>
            {reason.entities.map((id) => (
              <span key={id} className="why-name">
                {nameOf(id)}
              </span>
            ))}
          </dd>
        </div>
      )}
    </dl>
  );
}

function Bar({ label, value }: { label: string; value: number | undefined }) {
  const { t } = useLanguage();
  return (
    <div className="why-part">
      <dt>{label}</dt>
      <dd>
        {value === undefined ? (
          <span className="quiet">{t(words.notUsed)}</span>
        ) : (
          <>
            <meter min={0} max={1} value={value} aria-label={label} />
            <span>{value.toFixed(2)}</span>
          </>
        )}
      </dd>
    </div>
  );
}
