// One herb: its monograph in both languages, what speaks against taking it, what else is said, and who says so.

import { useEffect, useEffectEvent, useMemo, useState } from 'react';
import { useQuery } from '../../api/query.ts';
import { useClient } from '../../api/session.tsx';
import { CheckBadge, KindTag, RetractionBadge } from '../../evidence/badges.tsx';
import { DocumentDialog } from '../../evidence/document-dialog.tsx';
import { checkOf, type DocumentRecord, nameIn, wordsOf } from '../../evidence/record.ts';
import { SourceLine } from '../../evidence/source-line.tsx';
import { type Sources, useSources } from '../../evidence/sources.ts';
import { useWords } from '../../evidence/words.ts';
import { GraphView } from '../../graph/graph-view.tsx';
import { visible } from '../../graph/network.ts';
import { useShowInGraph } from '../../graph/show-in-graph.ts';
import { useNetwork } from '../../graph/use-network.ts';
import { useLanguage } from '../../i18n/language.tsx';
import { evidence } from '../../i18n/messages/evidence.ts';
import { herbs as words } from '../../i18n/messages/herbs.ts';
import { Button } from '../../parts/button.tsx';
import { Mono } from '../../parts/copy.tsx';
import { Markdown } from '../../parts/markdown.tsx';
import { Facts, Notice, PageHead, Section } from '../../parts/page.tsx';
import { ErrorState, Loading, WhenServed } from '../../parts/states.tsx';
import { Link } from '../../router/router.tsx';
import { pathOf } from '../../router/routes.ts';
import { AgainstTable, FactsTable } from './fact-tables.tsx';
import { Gaps } from './gaps.tsx';
import { type HerbPicture, nUnverified, readHerb } from './herbs.ts';

export function HerbPage({ id }: { id: string }) {
  const { t } = useLanguage();
  return (
    <>
      <p className="breadcrumb">
        <Link to={pathOf({ page: 'herbs' })}>{t(words.all)}</Link>
      </p>
      <WhenServed operation="read_node" title={t(words.title)}>
        <Herb id={id} />
      </WhenServed>
    </>
  );
}

function Herb({ id }: { id: string }) {
  const { t, tn, language } = useLanguage();
  const client = useClient();
  const sources = useSources();
  const showInGraph = useShowInGraph();
  const [open, setOpen] = useState<string>();
  const query = useQuery(id, (signal) => readHerb(client, id, signal));
  const picture = query.data;
  if (picture === undefined) {
    return (
      <>
        <PageHead title={t(words.title)} />
        {query.is === 'failed' ? <ErrorState error={query.error} onRetry={query.reload} /> : <Loading />}
      </>
    );
  }
  const { node } = picture;
  const n_unverified = nUnverified(picture);
  return (
    <>
      <PageHead
        title={nameIn(language, node.names, node.label)}
        lead={node.description}
        actions={
          <Button icon="graph" onClick={() => showInGraph(node.id)}>
            {t(words.showInGraph)}
          </Button>
        }
      />
      {n_unverified > 0 && (
        <Notice tone="warn">
          <p>{tn(words.unverifiedCount, n_unverified)}</p>
        </Notice>
      )}
      <div className="herb-head">
        <Identity picture={picture} sources={sources} />
      </div>
      <Section title={t(words.against)} lead={t(words.againstLead)}>
        <Gaps picture={picture} />
        <AgainstTable picture={picture} sources={sources} onRead={setOpen} />
      </Section>
      <Section title={t(words.monograph)}>
        <div className="monographs">
          {(language === 'th' ? ['th', 'en'] : ['en', 'th']).map((lang) => (
            <Monograph key={lang} lang={lang} document={picture.monographs.find((one) => one.id.endsWith(`:${lang}`))} sources={sources} />
          ))}
        </div>
      </Section>
      <Section title={t(words.facts)}>
        <FactsTable picture={picture} sources={sources} onRead={setOpen} />
      </Section>
      <Section title={t(words.papers)}>
        <Papers papers={picture.papers} sources={sources} onRead={setOpen} />
      </Section>
      <Section title={t(words.graph)}>
        <Neighbourhood id={node.id} />
      </Section>
      {open !== undefined && <DocumentDialog id={open} sources={sources} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function Identity({ picture: { node }, sources }: { picture: HerbPicture; sources: Sources }) {
  const { t, language } = useLanguage();
  const { languageName } = useWords();
  const attributes = node.attributes ?? {};
  const { isVerified, reviewed } = checkOf(attributes);
  const family = wordsOf(attributes['family'], language);
  const parts = wordsOf(attributes['parts'], language);
  return (
    <div className="card">
      <Facts
        facts={[
          {
            label: t(words.names),
            value: (
              <ul className="herb-names">
                {node.names.map(({ text, lang }, at) => (
                  <li key={at}>
                    <span lang={lang === 'und' ? undefined : lang} className={lang === 'la' ? 'latin' : undefined}>
                      {text}
                    </span>{' '}
                    <span className="kind">{languageName(lang)}</span>
                  </li>
                ))}
              </ul>
            ),
          },
          family.length > 0 ? { label: t(words.family), value: family.join(', ') } : null,
          parts.length > 0 ? { label: t(words.parts), value: parts.join(', ') } : null,
          { label: t(evidence.source), value: <SourceLine id={node.source} sources={sources} licence={node.licence} /> },
          { label: t(evidence.checked), value: <CheckBadge isVerified={isVerified} /> },
          { label: t(evidence.reviewed), value: reviewed ?? <span className="quiet">{t(evidence.reviewedUnknown)}</span> },
          { label: t(evidence.id), value: <Mono>{node.id}</Mono> },
        ]}
      />
    </div>
  );
}

function Monograph({ lang, document, sources }: { lang: string; document: DocumentRecord | undefined; sources: Sources }) {
  const { t } = useLanguage();
  const { languageName } = useWords();
  const check = document && checkOf(document.attributes);
  return (
    <article className="card monograph" aria-label={languageName(lang)}>
      <p className="hit-line">
        <KindTag kind="monograph" />
        <span>{languageName(lang)}</span>
      </p>
      {document === undefined ? (
        <p className="quiet">{t(words.monographNone)}</p>
      ) : (
        <>
          <div lang={lang}>
            <h3>{document.title}</h3>
            <Markdown text={document.text} />
          </div>
          <p className="hit-line">
            <SourceLine id={document.source} sources={sources} />
            {check?.isVerified !== undefined && <CheckBadge isVerified={check.isVerified} />}
            {check?.reviewed && (
              <span>
                {t(evidence.reviewed)} {check.reviewed}
              </span>
            )}
          </p>
        </>
      )}
    </article>
  );
}

function Papers({ papers, sources, onRead }: { papers: DocumentRecord[]; sources: Sources; onRead: (id: string) => void }) {
  const { t } = useLanguage();
  if (papers.length === 0) return <p className="quiet">{t(words.papersNone)}</p>;
  return (
    <ul className="papers">
      {papers.map((paper) => (
        <li key={paper.id}>
          <button type="button" className="line-link" aria-haspopup="dialog" onClick={() => onRead(paper.id)}>
            {paper.title || paper.id}
          </button>
          <p className="hit-line">
            {paper.authors.length > 0 && <span>{paper.authors.slice(0, 3).join(', ')}</span>}
            {paper.journal && <span>{paper.journal}</span>}
            {paper.year !== undefined && <span>{paper.year}</span>}
            <Mono>{paper.id}</Mono>
            <RetractionBadge status={paper.retraction?.kind} source={paper.retraction?.source} />
            <SourceLine id={paper.source} sources={sources} />
          </p>
        </li>
      ))}
    </ul>
  );
}

/** What is around the herb, with the same means as the explorer. */
function Neighbourhood({ id }: { id: string }) {
  const explorer = useNetwork();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const begin = useEffectEvent(() => void explorer.open(id));
  useEffect(() => begin(), [id]);
  const present = useMemo(() => visible(explorer.network, hidden), [explorer.network, hidden]);
  if (explorer.network.nodes.size === 0) return explorer.error ? <ErrorState error={explorer.error} /> : <Loading />;
  return (
    <GraphView
      whole={explorer.network}
      network={present}
      hidden={hidden}
      onHide={setHidden}
      nameOf={explorer.nameOf}
      selected={explorer.selected}
      onSelect={explorer.select}
      onExpand={(node) => void explorer.expand(node)}
    />
  );
}
