// The board of documents: one column per status, each document in its latest version.

import { type FormEvent, useState } from 'react';
import { usePages } from '../../api/pages.ts';
import { useQuery } from '../../api/query.ts';
import { useClient, useIsServed } from '../../api/session.tsx';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { documents as words } from '../../i18n/messages/documents.ts';
import { parts } from '../../i18n/messages/parts.ts';
import { Board, BoardCard, BoardColumn } from '../../parts/board.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Mono } from '../../parts/copy.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Badge, Notice, PageHead, Time } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Loading, WhenServed } from '../../parts/states.tsx';
import { Link, navigate, useSearch } from '../../router/router.tsx';
import { pathOf, pathOfDocument } from '../../router/routes.ts';
import { type Artifact, columnsOf, latestOf, toneOf } from './board.ts';
import { isProjectId, projectOf } from './place.ts';

/** Lists are by id, so a document may go over the end of a page; large pages make that rare. */
const PAGE_SIZE = 200;

export function BoardPage() {
  const { t } = useLanguage();
  return (
    <WhenServed operation="list_artifacts" title={t(words.title)}>
      <DocumentBoard />
    </WhenServed>
  );
}

interface Filters {
  artifact_type?: string;
  project_id?: string;
}

function parseFilters(search: string): Filters {
  const read = new URLSearchParams(search);
  const artifact_type = read.get('type')?.trim();
  return { ...(artifact_type ? { artifact_type } : {}), ...projectOf(read) };
}

function searchOf({ artifact_type, project_id }: { artifact_type?: string | undefined; project_id?: string | undefined }): string {
  const written = new URLSearchParams();
  if (artifact_type) written.set('type', artifact_type);
  if (project_id) written.set('project', project_id);
  return written.size > 0 ? `?${written}` : '';
}

function DocumentBoard() {
  const { t, tn } = useLanguage();
  const client = useClient();
  const search = useSearch();
  const filters = parseFilters(search);
  const canStore = useIsServed('store_artifact');
  const listed = usePages(search, async (cursor, signal) => {
    const { artifacts, next_cursor } = await client.call(
      'list_artifacts',
      { ...filters, limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) },
      { signal },
    );
    return { items: artifacts, next: next_cursor ?? undefined };
  });
  const artifacts = listed.items && latestOf(listed.items);
  const writeNew = canStore && (
    <LinkButton to={pathOf({ page: 'new_document' }) + searchOf({ project_id: filters.project_id })} look="primary" icon="plus">
      {t(words.new)}
    </LinkButton>
  );
  return (
    <>
      <PageHead title={t(words.title)} lead={t(words.lead)} actions={writeNew} />
      <FilterForm key={search} filters={filters} onSame={listed.reload} />
      {listed.error && <ErrorState error={listed.error} onRetry={listed.reload} />}
      {artifacts === undefined && listed.isLoading && <Loading />}
      {artifacts?.length === 0 && (
        <EmptyState icon="documents" title={t(words.noneTitle)} actions={writeNew}>
          <p>
            <Text of={words.noneBody} />
          </p>
        </EmptyState>
      )}
      {artifacts && artifacts.length > 0 && (
        <Board label={t(words.board)}>
          {columnsOf(artifacts).map(({ status, artifacts: inside }) => (
            <BoardColumn key={status} title={status} count={inside.length} empty={t(words.columnEmpty)}>
              {inside.map((artifact) => (
                <DocumentCard key={artifact.id} artifact={artifact} project_id={filters.project_id} />
              ))}
            </BoardColumn>
          ))}
        </Board>
      )}
      {listed.hasMore && artifacts && (
        <div className="more">
          <Notice tone="info">
            <p>{tn(words.moreTitle, artifacts.length)}</p>
          </Notice>
          <Button onClick={listed.more} isBusy={listed.isLoading}>
            {t(parts.more)}
          </Button>
        </div>
      )}
    </>
  );
}

function DocumentCard({ artifact, project_id }: { artifact: Artifact; project_id: string | undefined }) {
  const { t } = useLanguage();
  return (
    <BoardCard
      heading={
        <Link to={pathOfDocument({ id: artifact.id, project_id })} className="card-link">
          <Mono>{artifact.id}</Mono> <span className="card-title">{artifact.title}</span>
        </Link>
      }
    >
      <p className="card-line">
        {artifact.type} · {t(words.versionShort, { version: artifact.version })}
        {artifact.parent_id && ` · ${t(words.childOf, { parent: artifact.parent_id })}`}
      </p>
      <p className="card-line">
        {artifact.approval && <Badge tone={toneOf(artifact.status)}>{t(words.approvedBy, { actor: artifact.approval.approved_by })}</Badge>}
        <Time value={artifact.updated_at} />
      </p>
    </BoardCard>
  );
}

function FilterForm({ filters, onSame }: { filters: Filters; onSame: () => void }) {
  const { t } = useLanguage();
  const client = useClient();
  const canListTypes = useIsServed('list_artifact_types');
  const types = useQuery(canListTypes ? 'types' : null, (signal) => client.call('list_artifact_types', {}, { signal }));
  const [type, setType] = useState(filters.artifact_type ?? '');
  const [project, setProject] = useState(filters.project_id ?? '');
  const [problem, setProblem] = useState<string>();
  const go = (wantedType: string, wantedProject: string) => {
    const to = pathOf({ page: 'documents' }) + searchOf({ artifact_type: wantedType, project_id: wantedProject });
    if (to === location.pathname + location.search) onSame();
    else navigate(to);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const wanted = project.trim();
    if (wanted !== '' && !isProjectId(wanted)) return setProblem(t(words.projectWrong));
    setProblem(undefined);
    go(type, wanted);
  };
  const names = types.data?.artifact_types.map(({ name, prefix }) => ({ value: name, label: prefix ? `${prefix} · ${name}` : name })) ?? [];
  // The type of the address must be among the choices, even before they have come.
  const isKnown = type === '' || names.some(({ value }) => value === type);
  return (
    <form className="filter-form" role="search" aria-label={t(words.filters)} onSubmit={submit}>
      <SelectField
        label={t(words.type)}
        value={type}
        onChange={({ target }) => setType(target.value)}
        options={[{ value: '', label: t(words.anyType) }, ...(isKnown ? [] : [{ value: type, label: type }]), ...names]}
      />
      <TextField
        label={t(words.project)}
        hint={t(words.projectHint)}
        error={problem}
        value={project}
        onChange={({ target }) => setProject(target.value)}
        maxLength={100}
      />
      <div className="filter-rest">
        <div className="row">
          <Button type="submit" icon="search">
            {t(words.apply)}
          </Button>
          <Button
            look="quiet"
            onClick={() => {
              setType('');
              setProject('');
              setProblem(undefined);
              go('', '');
            }}
          >
            {t(words.clear)}
          </Button>
        </div>
      </div>
    </form>
  );
}
