// The facts of a herb in tables: what is said, how strong, on what grounds, by whom, and when it was last reviewed.

import { ServerWords } from '../../evidence/answer-note.tsx';
import { KindTag, StrengthBadge } from '../../evidence/badges.tsx';
import { CheckLine, SaidSame } from '../../evidence/check-line.tsx';
import { Passages } from '../../evidence/fact-source.tsx';
import { checkOf, nameIn } from '../../evidence/record.ts';
import { Retracted } from '../../evidence/retracted.tsx';
import { Reference, SourceLine } from '../../evidence/source-line.tsx';
import type { Sources } from '../../evidence/sources.ts';
import type { Relation } from '../../evidence/standing.ts';
import { useWords } from '../../evidence/words.ts';
import { useLanguage } from '../../i18n/language.tsx';
import { evidence } from '../../i18n/messages/evidence.ts';
import { herbs as words } from '../../i18n/messages/herbs.ts';
import { Notice } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type Against, groundOf, type HerbPicture, whoseList } from './herbs.ts';

interface Props {
  picture: HerbPicture;
  sources: Sources;
  onRead: (id: string) => void;
}

/** Grounds, source, date and check of a fact: the same for every table. */
function useGrounds<Row extends Against | Relation>({ picture, sources, onRead }: Props): Column<Row>[] {
  const { t } = useLanguage();
  const edge = (row: Row) => picture.edges.get(row.edge_id ?? '');
  return [
    { id: 'evidence', label: t(evidence.evidence), cell: (row) => <Evidence row={row} picture={picture} sources={sources} onRead={onRead} /> },
    { id: 'source', label: t(evidence.source), cell: (row) => <SourceLine id={row.source} sources={sources} /> },
    {
      id: 'checked',
      label: t(evidence.checked),
      cell: (row) => {
        const { reviewed } = checkOf(edge(row)?.qualifiers ?? {});
        return (
          <span className="checked">
            <CheckLine check={groundOf(row, edge(row)).check} />
            <span className="quiet">
              {t(evidence.reviewed)} <span className="time">{reviewed ?? t(evidence.reviewedUnknown)}</span>
            </span>
          </span>
        );
      },
    },
  ];
}

function Evidence({ row, picture, sources, onRead }: Props & { row: Against | Relation }) {
  const edge = picture.edges.get(row.edge_id ?? '');
  const { way, whole } = groundOf(row, edge);
  if (whole === undefined) {
    return (
      <>
        {way !== '' && (
          <p className="way">
            <ServerWords text={way} />
          </p>
        )}
        <Passages edge={edge} retracted={row.retracted} sources={sources} onRead={onRead} />
      </>
    );
  }
  return (
    <>
      <Retracted retracted={row.retracted} onRead={onRead} />
      <p>
        <ServerWords text={whole} />
      </p>
      {'references' in row &&
        row.references.map((reference) => (
          <p key={reference}>{sources.has(reference) ? <SourceLine id={reference} sources={sources} /> : <Reference reference={reference} onRead={onRead} />}</p>
        ))}
    </>
  );
}

/** Where a warning comes from, if it is not recorded of the herb or formulation itself. */
function Origin({ row, picture, sources }: { row: Against; picture: HerbPicture; sources: Sources }) {
  const { t, language } = useLanguage();
  const nameOf = (id: string, otherwise = id) => nameIn(language, picture.names.get(id) ?? [], otherwise);
  const who = whoseList(picture, row).map((id) => sources.get(id)?.title ?? id);
  return (
    <>
      {row.entity_id !== picture.node.id && <span className="below quiet">{t(words.recordedOf, { name: nameOf(row.entity_id, row.entity_label) })}</span>}
      {row.inherited_from && (
        <span className="below quiet">
          {who.length > 0
            ? t(words.inheritedBy, { name: nameOf(row.inherited_from), who: who.join(', ') })
            : t(words.inherited, { name: nameOf(row.inherited_from) })}
        </span>
      )}
      <SaidSame same={row.same_as} name={row.same_as ? nameOf(row.same_as.id) : undefined} />
    </>
  );
}

export function AgainstTable(props: Props) {
  const { picture, sources } = props;
  const { t, language } = useLanguage();
  const { predicate } = useWords();
  const grounds = useGrounds<Against>(props);
  if (picture.against.length === 0) {
    return (
      <Notice tone="info">
        <p>{t(picture.isAskedAbout ? words.againstNone : words.againstNotAsked)}</p>
      </Notice>
    );
  }
  const columns: Column<Against>[] = [
    {
      id: 'with',
      label: t(words.about),
      isHeading: true,
      cell: (row) => (
        <>
          <span className="below quiet">{predicate(row.predicate)}</span>
          {nameIn(language, picture.names.get(row.contraindication_id) ?? [], row.contraindication)}
          <Origin row={row} picture={picture} sources={sources} />
        </>
      ),
    },
    { id: 'strength', label: t(evidence.strength), cell: (row) => <StrengthBadge strength={row.strength} speaks="against" /> },
    ...grounds,
  ];
  return (
    <>
      <Table caption={t(words.against)} columns={columns} rows={picture.against} keyOf={({ edge_id, entity_id, inherited_from }) => JSON.stringify([entity_id, inherited_from, edge_id])} />
      {picture.isMoreAgainst && <p>{t(words.againstMore)}</p>}
    </>
  );
}

export function FactsTable(props: Props) {
  const { picture } = props;
  const { t, language } = useLanguage();
  const { predicate } = useWords();
  const grounds = useGrounds<Relation>(props);
  if (picture.facts.length === 0) return <p className="quiet">{t(words.factsNone)}</p>;
  const columns: Column<Relation>[] = [
    {
      id: 'statement',
      label: t(words.statement),
      isHeading: true,
      cell: (row) => (
        <>
          <span className="below quiet">{row.reverse ? `← ${predicate(row.predicate)}` : predicate(row.predicate)}</span>
          {nameIn(language, picture.names.get(row.id) ?? [], row.label)} <KindTag kind={row.type} />
          <SaidSame same={row.same_as} name={row.same_as ? nameIn(language, picture.names.get(row.same_as.id) ?? [], row.same_as.id) : undefined} />
        </>
      ),
    },
    { id: 'strength', label: t(evidence.strength), cell: (row) => <StrengthBadge strength={row.strength} speaks="for" /> },
    ...grounds,
  ];
  return <Table caption={t(words.facts)} columns={columns} rows={picture.facts} keyOf={({ edge_id }) => edge_id} />;
}
