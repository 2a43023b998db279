// A document of the record, to be read.

import { useQuery } from '../api/query.ts';
import { useClient } from '../api/session.tsx';
import { useLanguage } from '../i18n/language.tsx';
import { evidence } from '../i18n/messages/evidence.ts';
import { Mono } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { Facts, Notice } from '../parts/page.tsx';
import { EmptyState, ErrorState, Loading } from '../parts/states.tsx';
import { AbstractBadge, CheckBadge, KindTag } from './badges.tsx';
import { checkOf, type DocumentRecord, documentOf, readByIds } from './record.ts';
import { addressOf, isWebAddress } from './reference.ts';
import { OutsideLink, SourceLine } from './source-line.tsx';
import { type Sources } from './sources.ts';

export function DocumentDialog({ id, sources, onClose }: { id: string; sources: Sources; onClose: () => void }) {
  const { t } = useLanguage();
  const client = useClient();
  const query = useQuery(id, async (signal) => (await readByIds(client, 'document', [id], documentOf, signal))[0] ?? null);
  return (
    <Dialog title={query.data?.title || id} onClose={onClose} size="wide">
      {query.is === 'failed' && <ErrorState error={query.error} onRetry={query.reload} />}
      {query.is === 'loading' && <Loading />}
      {query.is === 'ready' && query.data === null && (
        <EmptyState icon="documents" title={t(evidence.documentMissing)}>
          <p>
            <Mono>{id}</Mono>
          </p>
        </EmptyState>
      )}
      {query.data && <DocumentBody document={query.data} sources={sources} />}
    </Dialog>
  );
}

function DocumentBody({ document, sources }: { document: DocumentRecord; sources: Sources }) {
  const { t } = useLanguage();
  const { isVerified, reviewed } = checkOf(document.attributes);
  const abstractBy = document.attributes['abstract_by'];
  const links = [...new Set([addressOf(document.id), ...document.links.filter(isWebAddress)])].filter((link) => link !== undefined);
  const others = Object.entries(document.ids).filter(([, value]) => typeof value === 'string') as [string, string][];
  return (
    <div className="stack">
      <RetractionNotice document={document} />
      {typeof abstractBy === 'string' && (
        <p>
          <AbstractBadge by={abstractBy} />
        </p>
      )}
      <div className="document-text" lang={document.lang === 'und' ? undefined : document.lang}>
        {document.text === '' ? <p className="quiet">{t(evidence.noText)}</p> : <Markdown text={document.text} />}
      </div>
      <Facts
        facts={[
          { label: t(evidence.kind), value: <KindTag kind={document.kind} /> },
          document.authors.length > 0 ? { label: t(evidence.authors), value: document.authors.join(', ') } : null,
          document.journal ? { label: t(evidence.journal), value: document.journal } : null,
          document.year === undefined ? null : { label: t(evidence.year), value: document.year },
          { label: t(evidence.source), value: <SourceLine id={document.source} sources={sources} /> },
          isVerified === undefined ? null : { label: t(evidence.checked), value: <CheckBadge isVerified={isVerified} /> },
          reviewed === undefined ? null : { label: t(evidence.reviewed), value: reviewed },
          { label: t(evidence.id), value: <Mono>{document.id}</Mono> },
          others.length > 0
            ? {
                label: t(evidence.otherIds),
                value: (
                  <span className="words">
                    {others.map(([name, value]) => (
                      <Mono key={name}>{`${name}:${value}`}</Mono>
                    ))}
                  </span>
                ),
              }
            : null,
          links.length > 0
            ? {
                label: t(evidence.references),
                value: (
                  <ul>
                    {links.map((link) => (
                      <li key={link}>
                        <OutsideLink href={link}>{link}</OutsideLink>
                      </li>
                    ))}
                  </ul>
                ),
              }
            : null,
        ]}
      />
    </div>
  );
}

function RetractionNotice({ document }: { document: DocumentRecord }) {
  const { t } = useLanguage();
  if (document.retraction === undefined) return null;
  const isRetracted = document.retraction.kind !== 'expression_of_concern';
  const words = isRetracted ? evidence.retractions.retracted : evidence.retractions.expression_of_concern;
  return (
    <Notice tone={isRetracted ? 'bad' : 'warn'} title={t(words)}>
      <p>{t(isRetracted ? evidence.retractedBody : evidence.concernBody)}</p>
      <p>{t(evidence.toldBy, { who: document.retraction.source })}</p>
      {document.retraction.notice && (
        <p>
          {t(evidence.notice)}: <Mono>{document.retraction.notice}</Mono>
        </p>
      )}
    </Notice>
  );
}
