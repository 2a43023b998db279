// That papers behind a statement were retracted or are doubted, and who says so.

import { useLanguage } from '../i18n/language.tsx';
import { evidence } from '../i18n/messages/evidence.ts';
import { Mono } from '../parts/copy.tsx';
import { Badge } from '../parts/page.tsx';
import { Reference } from './source-line.tsx';
import type { RetractedReference } from './standing.ts';
import { useWords } from './words.ts';

type Retractions = readonly RetractedReference[] | undefined;

export function Retracted({ retracted = [], onRead }: { retracted: Retractions; onRead: (id: string) => void }) {
  const { t } = useLanguage();
  if (retracted.length === 0) return null;
  return (
    <ul className="retracted" aria-label={t(evidence.restsOnRetracted)}>
      {retracted.map(({ reference, status, notice, source }) => (
        <li key={reference} className="hit-line">
          <StatusBadge status={status} />
          <Reference reference={reference} onRead={onRead} />
          {notice && (
            <span>
              {t(evidence.notice)}: <Mono>{notice}</Mono>
            </span>
          )}
          {source && <span>{t(evidence.toldBy, { who: source })}</span>}
        </li>
      ))}
    </ul>
  );
}

/** The same in few words, for a line that can be pressed. */
export function RetractedBriefly({ retracted = [] }: { retracted: Retractions }) {
  return retracted.map(({ reference, status }) => (
    <span key={reference} className="retracted-briefly">
      {' '}
      <StatusBadge status={status} /> {reference}
    </span>
  ));
}

function StatusBadge({ status }: { status: string }) {
  const words = useWords();
  const known = status.replaceAll(' ', '_');
  return <Badge tone={known === 'expression_of_concern' ? 'warn' : 'bad'}>{words.retraction(known)}</Badge>;
}
