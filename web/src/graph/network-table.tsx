// The network in words: the same nodes and statements, for keyboards, screen readers and whoever prefers lists.

import { useMemo, useState } from 'react';
import { KindTag } from '../evidence/badges.tsx';
import { useWords } from '../evidence/words.ts';
import { useLanguage } from '../i18n/language.tsx';
import { evidence } from '../i18n/messages/evidence.ts';
import { graph as words } from '../i18n/messages/graph.ts';
import { Button } from '../parts/button.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { degrees, type Network, type NetworkEdge, type NetworkNode } from './network.ts';

const ROWS = 100;

interface Props {
  network: Network;
  nameOf: (id: string) => string;
  selected: string | null;
  onSelect: (id: string) => void;
  onExpand: (id: string) => void;
}

export function NetworkTable({ network, nameOf, selected, onSelect, onExpand }: Props) {
  const { t, number } = useLanguage();
  const { predicate: predicateOf, strength: strengthOf } = useWords();
  const degree = useMemo(() => degrees(network), [network]);
  const nodes = useMemo(
    () => [...network.nodes.values()].sort((a, b) => (degree.get(b.id) ?? 0) - (degree.get(a.id) ?? 0) || (a.id < b.id ? -1 : 1)),
    [network, degree],
  );
  const nameLink = (id: string, label: string) => (
    <button type="button" className="line-link" aria-pressed={selected === id} aria-label={t(words.detailsOf, { name: label })} onClick={() => onSelect(id)}>
      {label}
    </button>
  );
  const nodeColumns: Column<NetworkNode>[] = [
    { id: 'node', label: t(words.node), isHeading: true, cell: ({ id }) => nameLink(id, nameOf(id)) },
    { id: 'kind', label: t(evidence.kind), cell: ({ kind }) => <KindTag kind={kind} /> },
    { id: 'links', label: t(words.nLinks), isNumber: true, cell: ({ id }) => number(degree.get(id) ?? 0) },
    {
      id: 'actions',
      label: t(words.actions),
      cell: ({ id, isExpanded }) =>
        !isExpanded && (
          <Button look="plain" onClick={() => onExpand(id)} aria-label={t(words.expandOf, { name: nameOf(id) })}>
            {t(words.expand)}
          </Button>
        ),
    },
  ];
  const edgeColumns: Column<NetworkEdge>[] = [
    { id: 'subject', label: t(words.subject), cell: ({ subject }) => nameOf(subject) },
    { id: 'predicate', label: t(words.predicate), isHeading: true, cell: ({ id, predicate }) => nameLink(id, predicateOf(predicate)) },
    { id: 'object', label: t(words.object), cell: ({ object }) => nameOf(object) },
    { id: 'strength', label: t(evidence.strength), cell: ({ strength }) => (strength ? strengthOf(strength) : <span className="quiet">{t(evidence.strengthUnknown)}</span>) },
    { id: 'source', label: t(evidence.source), cell: ({ source }) => source },
  ];
  return (
    <div className="graph-tables">
      <h3>{t(words.nodes)}</h3>
      <LongTable caption={t(words.nodes)} columns={nodeColumns} rows={nodes} keyOf={({ id }) => id} />
      <h3>{t(words.statements)}</h3>
      <LongTable caption={t(words.statements)} columns={edgeColumns} rows={[...network.edges.values()]} keyOf={({ id }) => id} />
    </div>
  );
}

/** Thousands of rows at once would make the page slow. */
function LongTable<Row>({ caption, columns, rows, keyOf }: { caption: string; columns: Column<Row>[]; rows: Row[]; keyOf: (row: Row) => string }) {
  const { t, number } = useLanguage();
  const [n_shown, setNShown] = useState(ROWS);
  const n_left = rows.length - n_shown;
  return (
    <>
      <Table caption={caption} columns={columns} rows={rows.slice(0, n_shown)} keyOf={keyOf} />
      {n_left > 0 && (
        <div className="more">
          <Button onClick={() => setNShown(n_shown + ROWS)}>{t(words.tableMore, { count: number(Math.min(ROWS, n_left)) })}</Button>
        </div>
      )}
    </>
  );
}
