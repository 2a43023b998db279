// Search over the evidence: a question in Thai or English, hits with the reason for each, citations to take along.

import { useState } from 'react';
import { useQuery } from '../../api/query.ts';
import { useClient } from '../../api/session.tsx';
import { ServerWords } from '../../evidence/answer-note.tsx';
import { DocumentDialog } from '../../evidence/document-dialog.tsx';
import { useRemembered } from '../../evidence/memory.ts';
import { useNames } from '../../evidence/names.ts';
import { type Sources, useSources } from '../../evidence/sources.ts';
import { useShowInGraph } from '../../graph/show-in-graph.ts';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { search as words } from '../../i18n/messages/search.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Notice, PageHead } from '../../parts/page.tsx';
import { Progress } from '../../parts/progress.tsx';
import { EmptyState, ErrorState, WhenServed } from '../../parts/states.tsx';
import { pathOf } from '../../router/routes.ts';
import { AskForm } from './ask-form.tsx';
import { type Asked, type Hit, inputOf, isDocument, NOTHING_ASKED, type Remarks, remarksOf } from './asked.ts';
import { CiteBar } from './cite-bar.tsx';
import { HitCard } from './hit-card.tsx';

export function SearchPage() {
  const { t } = useLanguage();
  return (
    <WhenServed operation="hybrid_search" title={t(words.title)}>
      <Search />
    </WhenServed>
  );
}

function Search() {
  const { t } = useLanguage();
  const client = useClient();
  const sources = useSources();
  const [asked, setAsked] = useRemembered<Asked | null>('search', null);
  const query = useQuery(asked === null ? null : JSON.stringify(asked), async (signal) => {
    const answer = await client.call('hybrid_search', inputOf(asked ?? NOTHING_ASKED), { signal });
    return { hits: answer.hits, remarks: remarksOf(answer) };
  });
  const isSearching = asked !== null && query.is === 'loading';
  const found = asked !== null && query.is === 'ready' ? query.data : undefined;
  return (
    <>
      <PageHead title={t(words.title)} lead={t(words.lead)} />
      <AskForm
        asked={asked ?? NOTHING_ASKED}
        sources={sources}
        onAsk={(next) => {
          if (JSON.stringify(next) === JSON.stringify(asked)) query.reload();
          else setAsked(next);
        }}
        onClear={() => setAsked(null)}
      />
      {asked === null && (
        <div className="after-form">
          <EmptyState icon="search" title={t(words.startTitle)}>
            <p>{t(words.startBody)}</p>
          </EmptyState>
        </div>
      )}
      {isSearching && <Progress label={t(words.searching)} />}
      {asked !== null && query.is === 'failed' && (
        <div className="after-form">
          <ErrorState error={query.error} onRetry={query.reload} />
        </div>
      )}
      {/* The next answer begins with nothing selected. */}
      {found && <Hits key={JSON.stringify(asked)} hits={found.hits} remarks={found.remarks} sources={sources} />}
    </>
  );
}

/** What was searched without, and what else the server has to say of the answer. */
function Without({ remarks: { hasVectors, without, fault, message } }: { remarks: Remarks }) {
  const { t } = useLanguage();
  if (hasVectors && message === undefined) return null;
  return (
    <Notice tone={without === 'unusable' ? 'warn' : 'info'}>
      {!hasVectors && (
        <p className="said">
          {without === 'no_model' && <Text of={words.withoutModel} />}
          {without === 'unusable' && <Text of={words.modelUnusable} values={{ fault: <bdi lang="en">{fault}</bdi> }} />}
          {without === 'other' && t(words.withoutVectors)}
        </p>
      )}
      {message !== undefined && (
        <p className="said">
          <ServerWords text={message} />
        </p>
      )}
    </Notice>
  );
}

function Hits({ hits, remarks, sources }: { hits: Hit[]; remarks: Remarks; sources: Sources }) {
  const { t, tn } = useLanguage();
  const [selected, setSelected] = useState<string[]>([]);
  const [open, setOpen] = useState<string>();
  // Reasons name nodes by their ids; readers know them by their names.
  const nameOf = useNames(Array.from(remarks.reasons.values()).flatMap(({ entities }) => entities));
  const showInGraph = useShowInGraph();
  const documents = hits.filter(isDocument).map(({ id }) => id);
  return (
    <>
      <div aria-live="polite" className="result-line">
        <p>{tn(words.count, hits.length)}</p>
      </div>
      <Without remarks={remarks} />
      {hits.length === 0 && (
        <div className="after-form">
          <EmptyState icon="search" title={t(words.noneTitle)}>
            <p>{t(words.noneBody)}</p>
          </EmptyState>
        </div>
      )}
      <CiteBar ids={selected} all={documents} onChange={setSelected} />
      <ol className="hits" aria-label={t(words.hits)}>
        {hits.map((hit) => (
          <HitCard
            key={hit.id}
            hit={hit}
            reason={remarks.reasons.get(hit.id)}
            sources={sources}
            nameOf={nameOf}
            isSelected={selected.includes(hit.id)}
            onSelect={(isSelected) =>
              setSelected(isSelected ? documents.filter((id) => id === hit.id || selected.includes(id)) : selected.filter((id) => id !== hit.id))
            }
            actions={
              isDocument(hit) ? (
                <Button look="plain" icon="documents" onClick={() => setOpen(hit.id)} aria-haspopup="dialog">
                  {t(words.read)}
                </Button>
              ) : (
                <>
                  {hit.type === 'herb' && (
                    <LinkButton icon="herb" to={pathOf({ page: 'herb', id: hit.id })}>
                      {t(words.openHerb)}
                    </LinkButton>
                  )}
                  <Button look="plain" icon="graph" onClick={() => showInGraph(hit.id)}>
                    {t(words.openGraph)}
                  </Button>
                </>
              )
            }
          />
        ))}
      </ol>
      {open !== undefined && <DocumentDialog id={open} sources={sources} onClose={() => setOpen(undefined)} />}
    </>
  );
}
