// What changed from one state of a document to another, and every state it was in.

import { useQuery } from '../../api/query.ts';
import { useClient } from '../../api/session.tsx';
import type { Output } from '../../api/client.ts';
import { useLanguage } from '../../i18n/language.tsx';
import { documents as words } from '../../i18n/messages/documents.ts';
import { Hash, Mono } from '../../parts/copy.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Badge, Section, Time } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Loading, WhenServed } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { navigate, useSearch } from '../../router/router.tsx';
import { pathOf } from '../../router/routes.ts';
import { toneOf } from './board.ts';
import { type DiffLine, parseDiff } from './diff.ts';
import { DocumentHead } from './document-head.tsx';
import { parsePlace } from './place.ts';
import { chosen, nameOf, type Revision } from './revisions.ts';

export function ChangesPage({ id }: { id: string }) {
  return (
    <WhenServed operation="diff_artifact" title={id}>
      <LoadedChanges id={id} />
    </WhenServed>
  );
}

function LoadedChanges({ id }: { id: string }) {
  const { t } = useLanguage();
  const client = useClient();
  const search = useSearch();
  const { project_id } = parsePlace(search);
  const place = project_id ? { project_id } : {};
  const listed = useQuery(`${id} ${project_id}`, (signal) => client.call('list_artifact_revisions', { artifact_id: id, ...place }, { signal }));
  const revisions = listed.data?.revisions ?? [];
  const { from, to } = chosen(revisions, search);
  const choose = (change: { from?: string; to?: string }) => {
    const next = new URLSearchParams(project_id ? { project: project_id } : {});
    next.set('from', change.from ?? (from ? nameOf(from) : ''));
    next.set('to', change.to ?? (to ? nameOf(to) : ''));
    navigate(`${pathOf({ page: 'changes', id })}?${next}`, 'replace');
  };
  const options = revisions.map((revision) => ({ value: nameOf(revision), label: t(words.state, revision) }));
  return (
    <>
      <DocumentHead id={id} title={t(words.changesTitle, { id })} place={place} />
      {listed.is === 'failed' && <ErrorState error={listed.error} onRetry={listed.reload} />}
      {listed.is === 'loading' && listed.data === undefined && <Loading />}
      {revisions.length === 1 && (
        <EmptyState icon="changes" title={t(words.oneState)}>
          <p>{t(words.oneStateBody)}</p>
        </EmptyState>
      )}
      {revisions.length > 1 && from && to && (
        <Section title={t(words.difference)}>
          <div className="filter-form">
            <SelectField label={t(words.from)} value={nameOf(from)} options={options} onChange={({ target }) => choose({ from: target.value })} />
            <SelectField label={t(words.to)} value={nameOf(to)} options={options} onChange={({ target }) => choose({ to: target.value })} />
          </div>
          <Difference id={id} from={from} to={to} project_id={project_id} />
        </Section>
      )}
      {revisions.length > 0 && <History revisions={revisions} />}
    </>
  );
}

function Difference({ id, from, to, project_id }: { id: string; from: Revision; to: Revision; project_id: string | undefined }) {
  const { t, tn } = useLanguage();
  const client = useClient();
  const input = {
    artifact_id: id,
    from_version: from.version,
    from_revision: from.revision,
    to_version: to.version,
    to_revision: to.revision,
    ...(project_id ? { project_id } : {}),
  };
  const compared = useQuery(JSON.stringify(input), (signal) => client.call('diff_artifact', input, { signal }));
  if (compared.is === 'failed') return <ErrorState error={compared.error} onRetry={compared.reload} />;
  if (compared.data === undefined) return <Loading />;
  const { diff, n_lines_added, n_lines_removed } = compared.data;
  if (diff === '') return <p className="quiet">{t(words.nSame)}</p>;
  return (
    <>
      <p role="status">
        <Badge tone="ok" icon="plus">
          {tn(words.added, n_lines_added)}
        </Badge>{' '}
        <Badge tone="bad" icon="minus">
          {tn(words.removed, n_lines_removed)}
        </Badge>
      </p>
      <DiffTable diff={diff} />
    </>
  );
}

const SIGNS = { same: '', added: '+', removed: '−' } as const;

function DiffTable({ diff }: { diff: string }) {
  const { t } = useLanguage();
  const said = { same: '', added: t(words.lineAdded), removed: t(words.lineRemoved) };
  const old = (line: DiffLine) => ('old' in line ? line.old : '');
  const now = (line: DiffLine) => ('new' in line ? line.new : '');
  return (
    <div className="diff-frame" tabIndex={0} role="group" aria-label={t(words.difference)}>
      <table className="diff">
        <caption className="for-readers">{t(words.difference)}</caption>
        <thead className="for-readers">
          <tr>
            <th scope="col">{t(words.oldLine)}</th>
            <th scope="col">{t(words.newLine)}</th>
            <th scope="col">{t(words.change)}</th>
            <th scope="col">{t(words.text)}</th>
          </tr>
        </thead>
        {parseDiff(diff).map((hunk) => (
          <tbody key={hunk.head}>
            <tr className="diff-head">
              <td colSpan={4}>{hunk.head}</td>
            </tr>
            {hunk.lines.map((line, at) => (
              <tr key={at} className={`diff-${line.is}`}>
                <td className="diff-number">{old(line)}</td>
                <td className="diff-number">{now(line)}</td>
                <td className="diff-sign">
                  <span aria-hidden="true">{SIGNS[line.is]}</span>
                  <span className="for-readers">{said[line.is]}</span>
                </td>
                <td className="diff-text">{line.text}</td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function History({ revisions }: { revisions: Output<'list_artifact_revisions'>['revisions'] }) {
  const { t } = useLanguage();
  return (
    <Section title={t(words.history)} lead={t(words.historyLead)}>
      <Table
        caption={t(words.history)}
        rows={revisions.toReversed()}
        keyOf={nameOf}
        columns={[
          { id: 'version', label: t(words.version), isHeading: true, cell: (one) => <Mono>{nameOf(one)}</Mono> },
          { id: 'status', label: t(words.status), cell: (one) => <Badge tone={toneOf(one.status)}>{one.status}</Badge> },
          { id: 'cause', label: t(words.cause), cell: (one) => t(words.causes[one.cause]) },
          { id: 'who', label: t(words.who), cell: (one) => <Mono>{one.changed_by}</Mono> },
          { id: 'when', label: t(words.when), cell: (one) => <Time value={one.changed_at} /> },
          { id: 'meaning', label: t(words.meaning), cell: (one) => one.meaning ?? '–' },
          { id: 'hash', label: t(words.hash), cell: (one) => <Hash>{one.content_sha256}</Hash> },
        ]}
      />
    </Section>
  );
}
