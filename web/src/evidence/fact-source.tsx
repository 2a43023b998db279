// What a statement rests on: what does not stand of it, passages, references.

import { useLanguage } from '../i18n/language.tsx';
import { evidence } from '../i18n/messages/evidence.ts';
import type { EdgeRecord } from './record.ts';
import { Retracted } from './retracted.tsx';
import { Reference, SourceLine } from './source-line.tsx';
import type { Sources } from './sources.ts';
import type { RetractedReference } from './standing.ts';

interface Props {
  edge: Pick<EdgeRecord, 'evidence'> | undefined;
  retracted?: readonly RetractedReference[] | undefined;
  sources: Sources;
  onRead: (id: string) => void;
}

export function Passages({ edge, retracted, sources, onRead }: Props) {
  const { t } = useLanguage();
  return (
    <>
      <Retracted retracted={retracted} onRead={onRead} />
      {edge === undefined || edge.evidence.length === 0 ? (
        <span className="quiet">{t(evidence.evidenceNone)}</span>
      ) : (
        <ul className="passages">
          {edge.evidence.map(({ text, reference }, at) => (
            <li key={at}>
              {text && <span>{text} </span>}
              {reference && (sources.has(reference) ? <SourceLine id={reference} sources={sources} /> : <Reference reference={reference} onRead={onRead} />)}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
