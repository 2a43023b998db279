// Who says what about the selected node or line.

import { type ReactNode, useState } from 'react';
import { useQuery } from '../../api/query.ts';
import { useClient } from '../../api/session.tsx';
import { AnswerNote } from '../../evidence/answer-note.tsx';
import { CheckBadge, CriticalBadge, KindTag, StrengthBadge } from '../../evidence/badges.tsx';
import { CheckLine, SaidSame } from '../../evidence/check-line.tsx';
import { DocumentDialog } from '../../evidence/document-dialog.tsx';
import { Passages } from '../../evidence/fact-source.tsx';
import { useNames } from '../../evidence/names.ts';
import { noteOf } from '../../evidence/note.ts';
import { checkOf, edgeOf, readByIds, wordsOf } from '../../evidence/record.ts';
import { RetractedBriefly } from '../../evidence/retracted.tsx';
import { SourceLine } from '../../evidence/source-line.tsx';
import type { Sources } from '../../evidence/sources.ts';
import { standingOf } from '../../evidence/standing.ts';
import { useWords } from '../../evidence/words.ts';
import type { NetworkEdge, NetworkNode, NodeDetails } from '../../graph/network.ts';
import { readTold } from '../../graph/told.ts';
import { useLanguage } from '../../i18n/language.tsx';
import { evidence } from '../../i18n/messages/evidence.ts';
import { graph as words } from '../../i18n/messages/graph.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Mono } from '../../parts/copy.tsx';
import { Facts } from '../../parts/page.tsx';
import { ErrorState, Loading } from '../../parts/states.tsx';
import { pathOf } from '../../router/routes.ts';

interface Common {
  sources: Sources;
  nameOf: (id: string, otherwise?: string) => string;
  onSelect: (id: string) => void;
}

interface Props extends Common {
  node: NetworkNode | undefined;
  edge: NetworkEdge | undefined;
  known: NodeDetails | undefined;
  onStatement: (of: string, edge: string) => void;
  onExpand: (id: string) => void;
  onTakeAway: (id: string) => void;
}

export function DetailsPanel({ node, edge, known, onSelect, onStatement, onExpand, onTakeAway, ...common }: Props) {
  const { t } = useLanguage();
  return (
    <section className="card graph-details" aria-label={t(words.details)}>
      {node && <NodePanel key={node.id} node={node} known={known} onStatement={onStatement} onExpand={onExpand} onTakeAway={onTakeAway} {...common} />}
      {edge && <EdgePanel key={edge.id} edge={edge} onSelect={onSelect} {...common} />}
      {!node && !edge && (
        <>
          <h2>{t(words.details)}</h2>
          <p className="quiet">{t(words.detailsNone)}</p>
        </>
      )}
    </section>
  );
}

type NodePanelProps = Omit<Common, 'onSelect'> & Pick<Props, 'known' | 'onStatement' | 'onExpand' | 'onTakeAway'> & { node: NetworkNode };

function NodePanel({ node, known, sources, nameOf, onStatement, onExpand, onTakeAway }: NodePanelProps) {
  const { t, number, language } = useLanguage();
  const { languageName, predicate: predicateOf } = useWords();
  const client = useClient();
  const query = useQuery(known ? null : node.id, (signal) => client.call('read_node', { curie: node.id }, { signal }));
  const details = known ?? query.data;
  const check = checkOf(details?.attributes ?? {});
  // What is not on the screen has no name there.
  const elsewhere = useNames(details?.relations.map(({ id }) => id).filter((id) => nameOf(id, '') === '') ?? []);
  return (
    <>
      <h2>{nameOf(node.id)}</h2>
      <p className="hit-line">
        <KindTag kind={node.kind} />
        <Mono>{node.id}</Mono>
      </p>
      <div className="row">
        {!node.isExpanded && (
          <Button look="primary" icon="plus" onClick={() => onExpand(node.id)}>
            {t(words.expand)}
          </Button>
        )}
        {node.kind === 'herb' && (
          <LinkButton icon="herb" to={pathOf({ page: 'herb', id: node.id })}>
            {t(words.openHerb)}
          </LinkButton>
        )}
        <Button look="quiet" icon="minus" onClick={() => onTakeAway(node.id)}>
          {t(words.hide)}
        </Button>
      </div>
      {!known && query.is === 'failed' && <ErrorState error={query.error} onRetry={query.reload} />}
      {!known && query.is === 'loading' && <Loading />}
      {details && (
        <>
          <AnswerNote note={noteOf(details)} />
          <Facts
            facts={[
              {
                label: t(words.names),
                value: (
                  <ul>
                    {details.names.map(({ text, lang }, at) => (
                      <li key={at}>
                        <span lang={lang === 'und' ? undefined : lang}>{text}</span> <span className="kind">{languageName(lang)}</span>
                      </li>
                    ))}
                  </ul>
                ),
              },
              details.description ? { label: t(words.description), value: details.description } : null,
              details.categories.length > 1
                ? {
                    label: t(words.categories),
                    value: (
                      <span className="words">
                        {details.categories.map((kind) => (
                          <KindTag key={kind} kind={kind} />
                        ))}
                      </span>
                    ),
                  }
                : null,
              details.same_as && details.same_as.length > 0
                ? { label: t(evidence.otherIds), value: <span className="words">{details.same_as.map((id) => <Mono key={id}>{id}</Mono>)}</span> }
                : null,
              { label: t(evidence.source), value: <SourceLine id={details.source} sources={sources} licence={details.licence} /> },
              ...checkFacts(<CheckBadge isVerified={check.isVerified} />, check.reviewed, t),
              attributesFact(details.attributes ?? {}, t(words.attributes), language),
            ]}
          />
          <h3>{t(words.said)}</h3>
          {details.n_relations > details.relations.length && (
            <p className="quiet">{t(words.saidMore, { all: number(details.n_relations), shown: number(details.relations.length) })}</p>
          )}
          <ul className="relations">
            {details.relations.map((relation) => (
              <li key={relation.edge_id}>
                <button type="button" className="line-link" onClick={() => onStatement(node.id, relation.edge_id)}>
                  {relation.reverse ? `← ${predicateOf(relation.predicate)}` : `${predicateOf(relation.predicate)} →`}
                </button>{' '}
                {nameOf(relation.id, elsewhere(relation.id, relation.label))}
                <CriticalBadge critical={relation.critical} />
                <RetractedBriefly retracted={relation.retracted} />
                <SaidSame same={relation.same_as} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function EdgePanel({ edge, sources, nameOf, onSelect }: Common & { edge: NetworkEdge }) {
  const { t, language } = useLanguage();
  const { predicate } = useWords();
  const client = useClient();
  const [open, setOpen] = useState<string>();
  const query = useQuery(edge.id, async (signal) => {
    const [records, told] = await Promise.all([readByIds(client, 'edge', [edge.id], edgeOf, signal), readTold(client, edge, signal)]);
    return { record: records[0], told };
  });
  const { record, told } = query.data ?? {};
  const { isVerified: stated, reviewed } = checkOf(record?.qualifiers ?? {});
  const end = (id: string) => (
    <button type="button" className="line-link" onClick={() => onSelect(id)}>
      {nameOf(id)}
    </button>
  );
  return (
    <>
      <h2>
        {nameOf(edge.subject)} <span className="path-step">{predicate(edge.predicate)}</span> {nameOf(edge.object)}
      </h2>
      {query.is === 'failed' && <ErrorState error={query.error} onRetry={query.reload} />}
      {query.is === 'loading' && <Loading />}
      {query.is === 'ready' && record === undefined && <p>{t(words.edgeGone)}</p>}
      {record && (
        <Facts
          facts={[
            { label: t(words.subject), value: end(edge.subject) },
            { label: t(words.predicate), value: <Mono>{edge.predicate}</Mono> },
            { label: t(words.object), value: end(edge.object) },
            {
              label: t(evidence.strength),
              value: (
                <>
                  <StrengthBadge strength={record.strength} speaks="for" />
                  <CriticalBadge critical={told?.critical} />
                </>
              ),
            },
            {
              label: t(evidence.evidence),
              value: (
                <>
                  <Passages edge={record} retracted={told?.retracted} sources={sources} onRead={setOpen} />
                  {told == null && <p className="quiet">{t(evidence.standingUnknown)}</p>}
                  <SaidSame same={told?.same_as} />
                </>
              ),
            },
            { label: t(evidence.source), value: <SourceLine id={record.source} sources={sources} /> },
            ...checkFacts(<CheckLine check={told ? standingOf(told, stated) : { isVerified: stated, isWayDoubted: false }} />, reviewed, t),
            attributesFact(record.qualifiers, t(words.qualifiers), language),
            { label: t(evidence.id), value: <Mono>{edge.id}</Mono> },
          ]}
        />
      )}
      {open !== undefined && <DocumentDialog id={open} sources={sources} onClose={() => setOpen(undefined)} />}
    </>
  );
}

type Translate = ReturnType<typeof useLanguage>['t'];

function checkFacts(checked: ReactNode, reviewed: string | undefined, t: Translate) {
  return [
    { label: t(evidence.checked), value: checked },
    { label: t(evidence.reviewed), value: reviewed ?? <span className="quiet">{t(evidence.reviewedUnknown)}</span> },
  ];
}

/** Places in sources stand with the evidence. */
const SAID_ELSEWHERE = ['verified', 'reviewed', 'sources'];

function attributesFact(members: Readonly<Record<string, unknown>>, label: string, language: string) {
  const shown = Object.entries(members).filter(([name]) => !SAID_ELSEWHERE.includes(name));
  if (shown.length === 0) return null;
  return {
    label,
    value: (
      <ul className="attributes">
        {shown.map(([name, value]) => (
          <li key={name}>
            <Mono>{name}</Mono> {plain(value, language)}
          </li>
        ))}
      </ul>
    ),
  };
}

function plain(value: unknown, language: string): string {
  const said = wordsOf(value, language);
  return said.length > 0 ? said.join(', ') : JSON.stringify(value);
}
