// What a statement rests on: passages, references, who says so, whether and when it was checked.

import { useLanguage } from '../i18n/language.tsx';
import { evidence } from '../i18n/messages/evidence.ts';
import type { EdgeRecord } from './record.ts';
import { Reference, SourceLine } from './source-line.tsx';
import type { Sources } from './sources.ts';

interface Props {
  edge: Pick<EdgeRecord, 'evidence'> | undefined;
  sources: Sources;
  onRead: (id: string) => void;
}

export function Passages({ edge, sources, onRead }: Props) {
  const { t } = useLanguage();
  if (edge === undefined || edge.evidence.length === 0) return <span className="quiet">{t(evidence.evidenceNone)}</span>;
  return (
    <ul className="passages">
      {edge.evidence.map(({ text, reference }, at) => (
        <li key={at}>
          {text && <span>{text} </span>}
          {reference && (sources.has(reference) ? <SourceLine id={reference} sources={sources} /> : <Reference reference={reference} onRead={onRead} />)}
        </li>
      ))}
    </ul>
  );
}
