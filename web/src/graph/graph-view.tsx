// The network as a drawing and as a table, with the types that are shown.

import { lazy, type Ref, Suspense, useId, useState } from 'react';
import { useWords } from '../evidence/words.ts';
import { useLanguage } from '../i18n/language.tsx';
import { graph as words } from '../i18n/messages/graph.ts';
import { Segments } from '../parts/field.tsx';
import { Notice } from '../parts/page.tsx';
import { Progress } from '../parts/progress.tsx';
import type { CanvasHandle } from './canvas.tsx';
import { colourOf } from './colours.ts';
import { degrees, EDGES_MAX, kindsOf, type Network, NODES_MAX } from './network.ts';
import { NetworkTable } from './network-table.tsx';

const GraphCanvas = lazy(() => import('./canvas.tsx'));

interface Props {
  /** Everything there is, for the list of types. */
  whole: Network;
  /** What is left of it. */
  network: Network;
  hidden: ReadonlySet<string>;
  onHide: (hidden: ReadonlySet<string>) => void;
  nameOf: (id: string) => string;
  selected: string | null;
  highlight?: ReadonlySet<string> | null;
  onSelect: (id: string | null) => void;
  onExpand: (id: string) => void;
  ref?: Ref<CanvasHandle>;
}

export function GraphView({ whole, network, hidden, onHide, nameOf, selected, highlight = null, onSelect, onExpand, ref }: Props) {
  const { t, tn, number } = useLanguage();
  const { kind } = useWords();
  const name = useId();
  const [view, setView] = useState('graph');
  const node = selected === null ? undefined : network.nodes.get(selected);
  const counts = { nodes: number(network.nodes.size), edges: number(network.edges.size) };
  return (
    <div className="graph-view">
      <div className="graph-bar">
        <Segments
          label={t(words.view)}
          name={name}
          value={view}
          onChange={setView}
          options={[
            { value: 'graph', label: t(words.asGraph) },
            { value: 'table', label: t(words.asTable) },
          ]}
        />
        <Kinds network={whole} hidden={hidden} onHide={onHide} />
      </div>
      {whole.isFull && (
        <Notice tone="warn">
          <p>{t(words.full, { nodes: number(NODES_MAX), edges: number(EDGES_MAX) })}</p>
        </Notice>
      )}
      <p className="for-readers" aria-live="polite">
        {node &&
          t(words.selectedSays, {
            name: nameOf(node.id),
            kind: kind(node.kind),
            links: tn(words.links, degrees(network).get(node.id) ?? 0),
          })}
      </p>
      <Suspense fallback={view === 'graph' && <Progress label={t(words.drawing)} />}>
        <GraphCanvas
          label={t(words.stage, counts)}
          isHidden={view !== 'graph'}
          network={network}
          nameOf={nameOf}
          selected={selected}
          highlight={highlight}
          onSelect={onSelect}
          onExpand={onExpand}
          {...(ref ? { ref } : {})}
        />
      </Suspense>
      {view === 'table' && <NetworkTable network={network} nameOf={nameOf} selected={selected} onSelect={onSelect} onExpand={onExpand} />}
    </div>
  );
}

function Kinds({ network, hidden, onHide }: { network: Network; hidden: ReadonlySet<string>; onHide: (hidden: ReadonlySet<string>) => void }) {
  const { t, number } = useLanguage();
  const { kind: wordOf } = useWords();
  const toggle = (kind: string) => {
    const next = new Set(hidden);
    if (!next.delete(kind)) next.add(kind);
    onHide(next);
  };
  return (
    <fieldset className="graph-kinds">
      <legend>{t(words.kinds)}</legend>
      {kindsOf(network).map(([kind, count]) => (
        <label key={kind} className="graph-kind">
          <input type="checkbox" checked={!hidden.has(kind)} onChange={() => toggle(kind)} />
          <span className={`swatch swatch-${colourOf(kind)}`} aria-hidden="true" />
          <span>
            {wordOf(kind)} <span className="quiet">{number(count)}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
