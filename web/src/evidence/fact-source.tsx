// What a statement rests on: passages, references, who says so, whether and when it was checked.

import { useLanguage } from '../i18n/language.tsx';
import { evidence } from '../i18n/messages/evidence.ts';
import type { EdgeRecord } from './record.ts';
import { Reference } from './source-line.tsx';

export function Passages({ edge, onRead }: { edge: Pick<EdgeRecord, 'evidence'> | undefined; onRead: (id: string) => void }) {
  const { t } = useLanguage();
  if (edge === undefined || edge.evidence.length === 0) return <span className="quiet">{t(evidence.evidenceNone)}</span>;
  return (
    <ul className="passages">
      {edge.evidence.map(({ text, reference }, at) => (
        <li key={at}>
          {text && <span>{text} </span>}
          {reference && <Reference reference={reference} onRead={onRead} />}
        </li>
      ))}
    </ul>
  );
}
