// The facts of a herb in tables: what is said, how strong, on what grounds, by whom, and when it was last reviewed.

import { CheckBadge, KindTag, StrengthBadge } from '../../evidence/badges.tsx';
import { Passages } from '../../evidence/fact-source.tsx';
import { checkOf, type EdgeRecord, nameIn } from '../../evidence/record.ts';
import { SourceLine } from '../../evidence/source-line.tsx';
import type { Sources } from '../../evidence/sources.ts';
import { useWords } from '../../evidence/words.ts';
import { useLanguage } from '../../i18n/language.tsx';
import { evidence } from '../../i18n/messages/evidence.ts';
import { herbs as words } from '../../i18n/messages/herbs.ts';
import { Notice } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import type { Against, HerbPicture, Relation } from './herbs.ts';

interface Props {
  picture: HerbPicture;
  sources: Sources;
  onRead: (id: string) => void;
}

/** Grounds, source, date and check of a fact: the same for every table. */
function useGrounds<Row extends { edge_id: string; source: string }>({ picture, sources, onRead }: Props): Column<Row>[] {
  const { t } = useLanguage();
  const edge = (row: Row): EdgeRecord | undefined => picture.edges.get(row.edge_id);
  return [
    { id: 'evidence', label: t(evidence.evidence), cell: (row) => <Passages edge={edge(row)} sources={sources} onRead={onRead} /> },
    { id: 'source', label: t(evidence.source), cell: (row) => <SourceLine id={row.source} sources={sources} /> },
    {
      id: 'checked',
      label: t(evidence.checked),
      cell: (row) => {
        const { isVerified, reviewed } = checkOf(edge(row)?.qualifiers ?? {});
        return (
          <span className="checked">
            <CheckBadge isVerified={isVerified} />
            <span className="quiet">
              {t(evidence.reviewed)} <span className="time">{reviewed ?? t(evidence.reviewedUnknown)}</span>
            </span>
          </span>
        );
      },
    },
  ];
}

export function AgainstTable(props: Props) {
  const { picture } = props;
  const { t, language } = useLanguage();
  const { predicate } = useWords();
  const grounds = useGrounds<Against>(props);
  if (picture.against.length === 0) {
    return (
      <Notice tone="info">
        <p>{t(words.againstNone)}</p>
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
          {row.inherited_from && <span className="below quiet">{row.inherited_from}</span>}
        </>
      ),
    },
    { id: 'strength', label: t(evidence.strength), cell: (row) => <StrengthBadge strength={row.strength} speaks="against" /> },
    ...grounds,
  ];
  return (
    <>
      <Table caption={t(words.against)} columns={columns} rows={picture.against} keyOf={({ edge_id, entity_id }) => `${entity_id} ${edge_id}`} />
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
        </>
      ),
    },
    { id: 'strength', label: t(evidence.strength), cell: (row) => <StrengthBadge strength={row.strength} speaks="for" /> },
    ...grounds,
  ];
  return <Table caption={t(words.facts)} columns={columns} rows={picture.facts} keyOf={({ edge_id }) => edge_id} />;
}
