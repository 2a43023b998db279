// One event: what it says, what it belongs to, and the proof that it is in the log.

import { useQuery } from '../../api/query.ts';
import { useClient } from '../../api/session.tsx';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { audit } from '../../i18n/messages/audit.ts';
import { LinkButton } from '../../parts/button.tsx';
import { CopyButton, Hash, Mono, Snippet } from '../../parts/copy.tsx';
import { Facts, PageHead, Section, Time } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Loading, WhenServed } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { formatSpan } from '../../parts/time.ts';
import { Link } from '../../router/router.tsx';
import { pathOf } from '../../router/routes.ts';
import type { Event, Found } from './events.ts';
import { OutcomeBadge } from './events-view.tsx';
import { mayBeCallId } from './filters.ts';
import { ProofPanel } from './proof-panel.tsx';

export function EventPage({ callId }: { callId: string }) {
  const { t } = useLanguage();
  return (
    <WhenServed operation="audit_search" title={t(audit.title)}>
      <LoadedEvent callId={callId} />
    </WhenServed>
  );
}

function LoadedEvent({ callId }: { callId: string }) {
  const client = useClient();
  const isPossible = mayBeCallId(callId);
  const found = useQuery(isPossible ? callId : null, (signal) =>
    client.call('audit_search', { call_id: callId, limit: 1 }, { signal }),
  );
  if (!isPossible) return <Missing callId={callId} />;
  if (found.is === 'failed') return <ErrorState error={found.error} onRetry={found.reload} />;
  if (found.data === undefined) return <Loading />;
  const [event] = found.data.events;
  return event === undefined ? <Missing callId={callId} /> : <EventDetails found={event} />;
}

function Missing({ callId }: { callId: string }) {
  const { t } = useLanguage();
  const back = (
    <LinkButton to={pathOf({ page: 'audit' })} icon="back">
      {t(audit.backToEvents)}
    </LinkButton>
  );
  return (
    <>
      <PageHead title={t(audit.eventMissing)} />
      <EmptyState icon="search" title={t(audit.eventMissing)} actions={back}>
        <p>
          <Text of={audit.eventMissingBody} values={{ id: <Mono>{callId}</Mono> }} />
        </p>
      </EmptyState>
    </>
  );
}

function EventDetails({ found }: { found: Found }) {
  const { t } = useLanguage();
  const { event, leaf_index } = found;
  const hash = (value: string, label: string) => (
    <span className="with-copy">
      <Hash>{value}</Hash>
      <CopyButton text={value} what={label} look="bare" />
    </span>
  );
  return (
    <>
      <p className="breadcrumb">
        <Link to={pathOf({ page: 'audit' })}>{t(audit.backToEvents)}</Link>
      </p>
      <PageHead title={t(audit.eventOf, { operation: event.operation })} lead={<OutcomeBadge outcome={event.outcome} />} />
      <div className="two-columns">
        <div>
          <div className="card">
            <Facts
              facts={[
                { label: t(audit.callId), value: hash(event.call_id, t(audit.callId)) },
                { label: t(audit.time), value: <Time value={event.time} /> },
                { label: t(audit.utc), value: <Mono>{event.time}</Mono> },
                { label: t(audit.actor), value: <Actor event={event} /> },
                { label: t(audit.organisation), value: <Mono>{event.organisation_id}</Mono> },
                event.code ? { label: t(audit.code), value: <Mono>{event.code}</Mono> } : null,
                { label: t(audit.duration), value: formatSpan(event.latency_ms) },
                { label: t(audit.inHash), value: hash(event.in_hash, t(audit.inHash)) },
                { label: t(audit.outHash), value: hash(event.out_hash, t(audit.outHash)) },
                { label: t(audit.logIndex), value: leaf_index == null ? t(audit.pending) : <Mono>{leaf_index}</Mono> },
                { label: t(audit.schemaVersion), value: <Mono>{event.schema_version}</Mono> },
              ]}
            />
          </div>
          <Correlation event={event} />
          <Objects event={event} />
          <Snippet label={t(audit.raw)} text={JSON.stringify(event, null, 2)} />
        </div>
        <WhenServed operation="audit_prove">
          <ProofPanel found={found} />
        </WhenServed>
      </div>
    </>
  );
}

function Actor({ event }: { event: Event }) {
  const { t } = useLanguage();
  const kinds = { human: t(audit.human), agent: t(audit.agent), service: t(audit.service) };
  return (
    <>
      <Link to={`${pathOf({ page: 'audit' })}?actor_id=${encodeURIComponent(event.actor.id)}`} className="mono">
        {event.actor.id}
      </Link>{' '}
      <span className="kind">{kinds[event.actor.kind] ?? event.actor.kind}</span>
    </>
  );
}

function Correlation({ event }: { event: Event }) {
  const { t } = useLanguage();
  const { task_id, run_id, request_id, conversation_id } = event.correlation ?? {};
  const ids = [
    { label: t(audit.taskId), id: task_id },
    { label: t(audit.runId), id: run_id },
    { label: t(audit.requestId), id: request_id },
    { label: t(audit.conversationId), id: conversation_id },
  ].filter((one) => one.id);
  return (
    <Section title={t(audit.correlation)}>
      {ids.length === 0 && <p className="quiet">{t(audit.correlationNone)}</p>}
      {ids.length > 0 && (
        <div className="card">
          <Facts
            facts={ids.map(({ label, id }) => ({
              label,
              value: (
                <span className="with-copy">
                  <Mono>{id ?? ''}</Mono>
                  <Link
                    to={`${pathOf({ page: 'audit' })}?id=${encodeURIComponent(id ?? '')}`}
                    aria-label={t(audit.followOf, { id: id ?? '' })}
                  >
                    {t(audit.follow)}
                  </Link>
                </span>
              ),
            }))}
          />
        </div>
      )}
    </Section>
  );
}

function Objects({ event }: { event: Event }) {
  const { t } = useLanguage();
  const objects = event.objects ?? [];
  if (objects.length === 0) return null;
  return (
    <Section title={t(audit.objects)}>
      <Table
        caption={t(audit.objects)}
        rows={objects}
        keyOf={(object) => `${object.type} ${object.id}`}
        columns={[
          { id: 'type', label: t(audit.objectType), cell: (object) => object.type },
          { id: 'id', label: t(audit.objectId), isHeading: true, cell: (object) => <Mono>{object.id}</Mono> },
          {
            id: 'hash',
            label: t(audit.objectHash),
            cell: (object) => (object.sha256 ? <Hash>{object.sha256}</Hash> : '–'),
          },
        ]}
      />
    </Section>
  );
}
