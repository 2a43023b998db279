// The graph explorer.

import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { useClient } from '../../api/session.tsx';
import { useRemembered } from '../../evidence/memory.ts';
import { useSources } from '../../evidence/sources.ts';
import type { CanvasHandle } from '../../graph/canvas.tsx';
import { GraphView } from '../../graph/graph-view.tsx';
import { partsOf, type Path, visible } from '../../graph/network.ts';
import { type Found, type PathQuestion, useNetwork } from '../../graph/use-network.ts';
import { useLanguage } from '../../i18n/language.tsx';
import { graph as words } from '../../i18n/messages/graph.ts';
import { Button } from '../../parts/button.tsx';
import { PageHead } from '../../parts/page.tsx';
import { Progress } from '../../parts/progress.tsx';
import { EmptyState, ErrorState, WhenServed } from '../../parts/states.tsx';
import { isDocument } from '../search/asked.ts';
import { DetailsPanel } from './details-panel.tsx';
import { ExportBar } from './export-bar.tsx';
import { type Candidate, FindForm } from './find-form.tsx';
import { PathForm } from './path-form.tsx';

const CANDIDATES_MAX = 20;

export function GraphPage() {
  const { t } = useLanguage();
  return (
    <WhenServed operation="read_node" title={t(words.title)}>
      <Explorer />
    </WhenServed>
  );
}

function useCandidates() {
  const client = useClient();
  const { language } = useLanguage();
  const [candidates, setCandidates] = useState<Candidate[]>();
  /** Things whose names are like the word. */
  const look = async (word: string) => {
    const { hits } = await client.call('hybrid_search', { query: word, lang: language, top_k: CANDIDATES_MAX });
    setCandidates(hits.filter((hit) => !isDocument(hit)).map(({ id, title, type }) => ({ id, title, kind: type })));
  };
  return { candidates, setCandidates, look };
}

function Explorer() {
  const { t, number } = useLanguage();
  const sources = useSources();
  const [remembered, setRemembered] = useRemembered<string | null>('graph', null);
  const { candidates, setCandidates, look } = useCandidates();
  const explorer = useNetwork((word) => {
    // A search that fails leaves the page as it is; the name can be typed again.
    look(word).catch(() => setCandidates([]));
    return true;
  });
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [found, setFound] = useState<Found>();
  const [shown, setShown] = useState<Path>();
  const canvas = useRef<CanvasHandle>(null);
  const { network, selected, nameOf, select } = explorer;
  const present = useMemo(() => visible(network, hidden), [network, hidden]);
  const highlight = useMemo(() => (shown ? partsOf(shown) : null), [shown]);

  const open = async (word: string) => {
    setCandidates(undefined);
    const id = await explorer.open(word);
    if (id !== null) setRemembered(id);
  };
  const run = async (question: PathQuestion) => {
    setShown(undefined);
    setFound((await explorer.follow(question)) ?? undefined);
  };
  /** What was told of a node may not be on the screen yet. */
  const openStatement = async (of: string, edge: string) => {
    if (!network.edges.has(edge)) await explorer.expand(of);
    select(edge);
  };
  const begin = useEffectEvent(() => {
    if (remembered !== null) void open(remembered);
  });
  useEffect(() => begin(), []);

  const isEmpty = network.nodes.size === 0;
  return (
    <>
      <PageHead
        title={t(words.title)}
        lead={t(words.lead)}
        actions={
          !isEmpty && (
            <Button
              icon="reload"
              onClick={() => {
                explorer.clear();
                setRemembered(null);
                setFound(undefined);
                setShown(undefined);
                setHidden(new Set());
              }}
            >
              {t(words.clear)}
            </Button>
          )
        }
      />
      <div className="graph-forms">
        <FindForm isBusy={explorer.busy === 'node'} candidates={candidates} onOpen={(word) => void open(word)} />
        <PathForm
          network={network}
          selected={selected}
          nameOf={nameOf}
          isBusy={explorer.busy === 'paths'}
          found={found}
          shown={shown}
          onRun={(question) => void run(question)}
          onShow={setShown}
        />
      </div>
      {explorer.error && <ErrorState error={explorer.error} />}
      {explorer.busy === 'whole' && <Progress label={t(words.loadingWhole, { nodes: number(explorer.progress.nodes), edges: number(explorer.progress.edges) })} />}
      {isEmpty && explorer.busy === 'no' && (
        <EmptyState
          icon="graph"
          title={t(words.emptyTitle)}
          actions={
            <Button icon="graph" onClick={() => void explorer.loadWhole()}>
              {t(words.whole)}
            </Button>
          }
        >
          <p>{t(words.emptyBody)}</p>
        </EmptyState>
      )}
      {!isEmpty && (
        <>
          <div className="beside graph-beside">
            <GraphView
              ref={canvas}
              whole={network}
              network={present}
              hidden={hidden}
              onHide={setHidden}
              nameOf={nameOf}
              selected={selected}
              highlight={highlight}
              onSelect={select}
              onExpand={(id) => void explorer.expand(id)}
            />
            <DetailsPanel
              node={selected === null ? undefined : present.nodes.get(selected)}
              edge={selected === null ? undefined : present.edges.get(selected)}
              known={selected === null ? undefined : explorer.detailsOf(selected)}
              sources={sources}
              nameOf={nameOf}
              onSelect={select}
              onStatement={(of, edge) => void openStatement(of, edge)}
              onExpand={(id) => void explorer.expand(id)}
              onTakeAway={explorer.takeAway}
            />
          </div>
          <ExportBar network={present} nameOf={nameOf} canvas={canvas} />
        </>
      )}
    </>
  );
}
