// The events that match, newest first; or, for one id, everything that belongs to it in the order it happened.

import { useLanguage } from '../../i18n/language.tsx';
import { audit } from '../../i18n/messages/audit.ts';
import { parts } from '../../i18n/messages/parts.ts';
import { Button } from '../../parts/button.tsx';
import { Mono } from '../../parts/copy.tsx';
import { Badge, Time, type Tone } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { formatSpan, zoneName } from '../../parts/time.ts';
import { Link, useSearch } from '../../router/router.tsx';
import { pathOf } from '../../router/routes.ts';
import { type Event, type Found, inTimeOrder, offsetMs, useEvents } from './events.ts';
import { isId, type Outcome, parseFilters } from './filters.ts';
import { SearchForm } from './search-form.tsx';

const TONES: Record<Outcome, Tone> = {
  ok: 'ok',
  invalid: 'warn',
  denied: 'warn',
  not_found: 'warn',
  conflict: 'warn',
  busy: 'warn',
  timeout: 'warn',
  input_required: 'quiet',
  cancelled: 'quiet',
  upstream: 'bad',
  failed: 'bad',
  panicked: 'bad',
};

export function OutcomeBadge({ outcome }: { outcome: Event['outcome'] }) {
  const { t } = useLanguage();
  // A newer server may know outcomes that this page does not.
  if (!Object.hasOwn(TONES, outcome)) return <Badge tone="info">{outcome}</Badge>;
  return <Badge tone={TONES[outcome]}>{t(audit.outcomes[outcome])}</Badge>;
}

export function EventsView() {
  const { t } = useLanguage();
  const search = useSearch();
  const filters = parseFilters(search);
  const isFollowing = filters.id !== '' && isId(filters.id);
  const list = useEvents(search, filters);
  const events = isFollowing ? inTimeOrder(list.events) : list.events;
  const isFirstLoad = list.isLoading && events.length === 0;
  return (
    <>
      <SearchForm key={search} filters={filters} onSame={list.reload} />
      <div aria-live="polite" className="result-line">
        {!isFirstLoad && events.length > 0 && <Summary events={events} id={isFollowing ? filters.id : null} hasMore={list.hasMore} />}
      </div>
      {list.error && <ErrorState error={list.error} onRetry={list.reload} />}
      {isFirstLoad && <Loading />}
      {!list.isLoading && !list.error && !list.hasMore && events.length === 0 && (
        <EmptyState icon="search" title={t(audit.noneTitle)}>
          <p>{t(audit.noneBody)}</p>
        </EmptyState>
      )}
      {events.length > 0 && <EventTable events={events} isFollowing={isFollowing} />}
      {list.hasMore && (
        <div className="more">
          <Button onClick={list.more} isBusy={list.isLoading}>
            {t(audit.more)}
          </Button>
        </div>
      )}
      {events.length > 0 && <p className="zone">{t(parts.timesIn, { zone: zoneName() })}</p>}
    </>
  );
}

function Summary({ events, id, hasMore }: { events: Found[]; id: string | null; hasMore: boolean }) {
  const { t, tn } = useLanguage();
  const words = tn(audit.count, events.length);
  if (id === null) return <p>{t(hasMore ? audit.countMore : audit.countAll, { events: words })}</p>;
  const [first, last] = [events[0], events.at(-1)];
  const n_failed = events.filter(({ event }) => event.outcome !== 'ok').length;
  const n_actors = new Set(events.map(({ event }) => event.actor.id)).size;
  const span = first && last ? formatSpan(offsetMs(last.event, first.event)) : '';
  return (
    <p>
      <strong>{t(audit.following, { id })}</strong>
      {' · '}
      {t(audit.followingSummary, { events: words, actors: tn(audit.actors, n_actors), span })}
      {n_failed > 0 && ` · ${tn(audit.notOk, n_failed)}`}
    </p>
  );
}

function EventTable({ events, isFollowing }: { events: Found[]; isFollowing: boolean }) {
  const { t, number } = useLanguage();
  const kinds = { human: t(audit.human), agent: t(audit.agent), service: t(audit.service) };
  const first = events[0]?.event;
  const columns: Column<Found>[] = [
    { id: 'time', label: t(audit.time), cell: ({ event }) => <Time value={event.time} /> },
    {
      id: 'operation',
      label: t(audit.operation),
      isHeading: true,
      cell: ({ event }) => (
        <Link to={pathOf({ page: 'event', call_id: event.call_id })} className="mono">
          {event.operation}
        </Link>
      ),
    },
    {
      id: 'actor',
      label: t(audit.actor),
      cell: ({ event }) => (
        <>
          <Mono>{event.actor.id}</Mono> <span className="kind">{kinds[event.actor.kind] ?? event.actor.kind}</span>
        </>
      ),
    },
    {
      id: 'outcome',
      label: t(audit.outcome),
      cell: ({ event }) => (
        <>
          <OutcomeBadge outcome={event.outcome} />
          {event.count != null && event.count > 1 && (
            <span className="kind"> {t(audit.folded, { count: number(event.count) })}</span>
          )}
        </>
      ),
    },
    { id: 'duration', label: t(audit.duration), isNumber: true, cell: ({ event }) => formatSpan(event.latency_ms) },
    {
      id: 'index',
      label: t(audit.index),
      isNumber: true,
      cell: ({ leaf_index }) =>
        leaf_index == null ? <span className="kind">{t(audit.pending)}</span> : <Mono>{leaf_index}</Mono>,
    },
  ];
  if (isFollowing && first) {
    columns.splice(1, 0, {
      id: 'offset',
      label: t(audit.offset),
      isNumber: true,
      cell: ({ event }) => `+ ${formatSpan(offsetMs(event, first))}`,
    });
  }
  return <Table caption={t(audit.events)} columns={columns} rows={events} keyOf={({ event }) => event.call_id} />;
}
