// One version of a document: its text, what the checklist says of it, who approved it; approving and moving it.

import { useRef, useState } from 'react';
import type { Output } from '../../api/client.ts';
import { type Query, useQuery } from '../../api/query.ts';
import { useClient, useIsServed } from '../../api/session.tsx';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { documents as words } from '../../i18n/messages/documents.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { CopyButton, Hash, Mono } from '../../parts/copy.tsx';
import { goToLine, Markdown } from '../../parts/markdown.tsx';
import { Badge, Facts, Notice, Section, Time } from '../../parts/page.tsx';
import { ErrorState, Loading, WhenServed } from '../../parts/states.tsx';
import { Link, useSearch } from '../../router/router.tsx';
import { pathOf, pathOfDocument } from '../../router/routes.ts';
import { formatTaskFilters } from '../tasks/tasks.ts';
import { ApproveDialog, ApprovedDialog } from './approve-dialog.tsx';
import { type Artifact, latestOf, mayBeApproved, toneOf } from './board.ts';
import { useDigest } from './digest.ts';
import { DocumentHead } from './document-head.tsx';
import { Findings } from './findings.tsx';
import { parsePlace, type Place } from './place.ts';
import { StatusForm } from './status-form.tsx';

type Read = Output<'read_artifact'>;
type Approved = Output<'approve_artifact'>;

export function DocumentPage({ id }: { id: string }) {
  return (
    <WhenServed operation="read_artifact" title={id}>
      <LoadedDocument id={id} />
    </WhenServed>
  );
}

function LoadedDocument({ id }: { id: string }) {
  const client = useClient();
  const search = useSearch();
  const place = parsePlace(search);
  const read = useQuery(`${id} ${search}`, (signal) => client.call('read_artifact', { artifact_id: id, ...place }, { signal }));
  if (read.is === 'failed') {
    return (
      <>
        <DocumentHead id={id} place={place} />
        <ErrorState error={read.error} onRetry={read.reload} />
      </>
    );
  }
  if (read.data === undefined) return <Loading />;
  return <Shown read={read.data} place={place} onChanged={read.reload} />;
}

function Shown({ read, place, onChanged }: { read: Read; place: Place; onChanged: () => void }) {
  const { t } = useLanguage();
  const { artifact, content, next_statuses: statuses = [] } = read;
  const text = useRef<HTMLDivElement>(null);
  const digest = useDigest(content);
  const isOther = digest !== null && digest !== artifact.content_sha256;
  const validated = useValidation(read, place);
  const latest = useLatest(artifact, place);
  const canApprove = useIsServed('approve_artifact');
  const canStore = useIsServed('store_artifact');
  const canMove = useIsServed('set_artifact_status');
  const [open, setOpen] = useState<'nothing' | 'approve' | Approved>('nothing');
  const isLatest = latest === undefined || latest <= artifact.version;
  return (
    <>
      <DocumentHead
        id={artifact.id}
        title={artifact.title}
        place={place}
        lead={
          <>
            <Badge tone={toneOf(artifact.status)}>{artifact.status}</Badge> {t(words.versionShort, { version: artifact.version })}
          </>
        }
        actions={
          <>
            {canStore && (
              <LinkButton to={pathOfDocument({ id: artifact.id, project_id: place.project_id }, 'edit_document')} icon="edit">
                {t(words.edit)}
              </LinkButton>
            )}
            {canApprove && isLatest && !isOther && mayBeApproved(artifact) && (
              <Button look="primary" icon="shield" onClick={() => setOpen('approve')}>
                {t(words.approve)}
              </Button>
            )}
          </>
        }
      />
      {!isLatest && (
        <Notice tone="info">
          <p>
            {t(words.older, { version: artifact.version, latest })}{' '}
            <Link to={pathOfDocument({ id: artifact.id, project_id: place.project_id })}>{t(words.toLatest)}</Link>
          </p>
        </Notice>
      )}
      {isOther && (
        <Notice tone="bad">
          <p>{t(words.hashOther)}</p>
        </Notice>
      )}
      <div className="beside">
        <article ref={text} className="card" aria-label={t(words.textOf, { id: artifact.id })}>
          <Markdown text={content} />
        </article>
        <div className="stack">
          {canMove && !isOther && statuses.length > 0 && (
            <StatusForm artifact={artifact} statuses={statuses} project_id={place.project_id} onMoved={onChanged} />
          )}
          <ValidationCard validated={validated} onLine={(line) => text.current && goToLine(text.current, line)} />
          <AboutVersion artifact={artifact} place={place} isChecked={digest !== null && !isOther} />
          <Children artifact={artifact} place={place} />
        </div>
      </div>
      {open === 'approve' && (
        <ApproveDialog
          artifact={artifact}
          project_id={place.project_id}
          validation={validated.data}
          onClose={() => setOpen('nothing')}
          onApproved={(answer) => {
            setOpen(answer);
            onChanged();
          }}
        />
      )}
      {typeof open === 'object' && <ApprovedDialog answer={open} project_id={place.project_id} onClose={() => setOpen('nothing')} />}
    </>
  );
}

function useValidation({ artifact, content }: Read, { project_id }: Place): Query<Output<'validate_artifact'>> & { isServed: boolean; type: string } {
  const client = useClient();
  const isServed = useIsServed('validate_artifact');
  const query = useQuery(isServed ? artifact.content_sha256 : null, (signal) =>
    client.call('validate_artifact', { artifact_content: content, artifact_id: artifact.id, ...(project_id ? { project_id } : {}) }, { signal }),
  );
  return { ...query, isServed, type: artifact.type };
}

function ValidationCard({ validated, onLine }: { validated: ReturnType<typeof useValidation>; onLine: (line: number) => void }) {
  const { t } = useLanguage();
  if (!validated.isServed) return null;
  return (
    <section className="card" aria-labelledby="findings">
      <h2 id="findings">{t(words.findings)}</h2>
      {validated.is === 'failed' && <ErrorState error={validated.error} onRetry={validated.reload} />}
      {validated.is === 'loading' && validated.data === undefined && <Loading />}
      {validated.data && <Findings result={validated.data} artifactType={validated.type} onLine={onLine} />}
    </section>
  );
}

/** The number of the latest version, from the list of revisions where the server has it. */
function useLatest(artifact: Artifact, { project_id }: Place): number | undefined {
  const client = useClient();
  const isServed = useIsServed('list_artifact_revisions');
  const { id } = artifact;
  const key = `${id} ${artifact.content_sha256}`;
  const listed = useQuery(isServed ? key : null, (signal) =>
    client.call('list_artifact_revisions', { artifact_id: id, ...(project_id ? { project_id } : {}) }, { signal }),
  );
  return listed.data && Math.max(...listed.data.revisions.map(({ version }) => version));
}

function AboutVersion({ artifact, place, isChecked }: { artifact: Artifact; place: Place; isChecked: boolean }) {
  const { t } = useLanguage();
  const { approval } = artifact;
  const hash = (value: string, label: string) => (
    <span className="with-copy">
      <Hash>{value}</Hash>
      <CopyButton text={value} what={label} look="bare" />
    </span>
  );
  return (
    <section className="card" aria-labelledby="about">
      <h2 id="about">{t(words.facts)}</h2>
      <Facts
        facts={[
          ...(approval
            ? [
                { label: t(words.approvedByLabel), value: <Mono>{approval.approved_by}</Mono> },
                { label: t(words.meaning), value: <q className="meaning">{approval.meaning}</q> },
                { label: t(words.approvedAt), value: <Time value={approval.approved_at} /> },
                {
                  label: t(words.reviewedHash),
                  value: (
                    <>
                      {hash(approval.reviewed_sha256, t(words.reviewedHash))}
                      {approval.names_reviewed_hash === false && (
                        <span className="below quiet">{t(words.reviewedHashNotNamed)}</span>
                      )}
                    </>
                  ),
                },
              ]
            : []),
          { label: t(words.id), value: <Mono>{artifact.id}</Mono> },
          { label: t(words.type), value: artifact.type },
          artifact.parent_id
            ? {
                label: t(words.parent),
                value: <Link to={pathOfDocument({ id: artifact.parent_id, project_id: place.project_id })}>{artifact.parent_id}</Link>,
              }
            : null,
          { label: t(words.author), value: <Mono>{artifact.created_by}</Mono> },
          { label: t(words.created), value: <Time value={artifact.created_at} /> },
          { label: t(words.updated), value: <Time value={artifact.updated_at} /> },
          {
            label: t(words.hash),
            value: (
              <>
                {hash(artifact.content_sha256, t(words.hash))}
                {isChecked && <span className="below quiet">{t(words.hashChecked)}</span>}
              </>
            ),
          },
          { label: t(words.path), value: <Hash>{artifact.file_path}</Hash> },
          { label: t(words.uri), value: hash(artifact.resource_uri, t(words.uri)) },
        ]}
      />
    </section>
  );
}

function Children({ artifact, place }: { artifact: Artifact; place: Place }) {
  const { t } = useLanguage();
  const client = useClient();
  const canList = useIsServed('list_artifacts');
  const hasTasks = useIsServed('list_tasks');
  const { id } = artifact;
  const { project_id } = place;
  const listed = useQuery(canList ? id : null, (signal) =>
    client.call('list_artifacts', { parent_id: id, limit: 200, ...(project_id ? { project_id } : {}) }, { signal }),
  );
  const children = latestOf(listed.data?.artifacts ?? []);
  return (
    <Section title={t(words.children)}>
      {listed.is === 'failed' && <ErrorState error={listed.error} onRetry={listed.reload} />}
      <ul className="link-list">
        {children.map((child) => (
          <li key={child.id}>
            <Link to={pathOfDocument({ id: child.id, project_id })}>
              {child.id} {child.title}
            </Link>
            <Badge tone={toneOf(child.status)}>{child.status}</Badge>
          </li>
        ))}
        {hasTasks && (
          <li>
            <Link
              to={
                pathOf({ page: 'tasks' }) +
                formatTaskFilters({ ...(project_id ? { project_id } : {}), depends_on: id, missing_mandatory_inputs: false })
              }
            >
              <Text of={words.tasksOf} values={{ id }} />
            </Link>
          </li>
        )}
      </ul>
    </Section>
  );
}
