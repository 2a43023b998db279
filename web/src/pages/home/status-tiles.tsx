// Four figures about this server. Each stands alone: one that cannot be read does not take the others away.

import type { ReactNode } from 'react';
import type { CallError, Output } from '../../api/client.ts';
import { type Query, useQuery } from '../../api/query.ts';
import { useClient, useIsServed, useTools } from '../../api/session.tsx';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { home } from '../../i18n/messages/home.ts';
import { parts } from '../../i18n/messages/parts.ts';
import { Badge, Time } from '../../parts/page.tsx';
import { formatDuration } from '../../parts/time.ts';
import { isActive } from '../settings/keys.ts';

interface TileProps {
  label: string;
  figure: ReactNode;
  hint?: ReactNode;
}

function Tile({ label, figure, hint }: TileProps) {
  return (
    <div className="tile">
      <dt>{label}</dt>
      <dd>
        <span className="tile-figure">{figure}</span>
        {hint && <span className="tile-hint">{hint}</span>}
      </dd>
    </div>
  );
}

export function StatusTiles() {
  const { t } = useLanguage();
  return (
    <section aria-label={t(home.status)}>
      <dl className="tiles">
        <HealthTile />
        <OperationsTile />
        <EventsTile />
        <KeysTile />
      </dl>
    </section>
  );
}

function HealthTile() {
  const { t } = useLanguage();
  const client = useClient();
  const health = useQuery('health', (signal) => client.readHealth({ signal }));
  if (health.is === 'failed') return <Tile label={t(home.health)} figure={<Failed error={health.error} />} />;
  if (health.data === undefined) return <Tile label={t(home.health)} figure="…" hint={t(parts.loading)} />;
  const { status, version, uptime_seconds, dependencies } = health.data;
  const down = Object.entries(dependencies ?? {}).filter(([, state]) => state !== 'ok');
  return (
    <Tile
      label={t(home.health)}
      figure={status === 'ok' ? <Badge tone="ok">{t(home.healthy)}</Badge> : <Badge tone="bad">{t(home.degraded)}</Badge>}
      hint={
        down.length > 0
          ? down.map(([name, state]) => t(home.dependencyDown, { name, state })).join(', ')
          : t(home.version, { version, uptime: formatDuration(uptime_seconds) })
      }
    />
  );
}

function OperationsTile() {
  const { t, number } = useLanguage();
  const tools = useTools();
  const families = new Set(tools.map((tool) => tool.family));
  return (
    <Tile
      label={t(home.operations)}
      figure={number(tools.length)}
      hint={t(home.operationsHint, { count: number(families.size) })}
    />
  );
}

function EventsTile() {
  const { t, number } = useLanguage();
  const client = useClient();
  const isServed = useIsServed('audit_search');
  const found = useQuery(isServed ? 'newest' : null, (signal) => client.call('audit_search', { limit: 10 }, { signal }));
  return (
    <Figure label={t(home.events)} isServed={isServed} query={found}>
      {({ events }) => {
        const newest = events[0];
        // Events come newest first, and leaf indexes are contiguous: the highest tells how many there are.
        const count = Math.max(0, ...events.map(({ leaf_index }) => (leaf_index ?? -1) + 1));
        const hint = newest ? (
          <Text of={home.eventsLast} values={{ time: <Time value={newest.event.time} /> }} />
        ) : (
          t(home.eventsNone)
        );
        return { figure: number(count), hint };
      }}
    </Figure>
  );
}

function KeysTile() {
  const { t, number } = useLanguage();
  const client = useClient();
  const isServed = useIsServed('list_keys');
  const listed = useQuery(isServed ? 'keys' : null, (signal) => client.call('list_keys', {}, { signal }));
  return (
    <Figure label={t(home.keys)} isServed={isServed} query={listed}>
      {({ keys }: Output<'list_keys'>) => ({
        figure: number(keys.filter((key) => isActive(key, new Date())).length),
        hint: t(home.keysHint, { count: number(keys.length) }),
      })}
    </Figure>
  );
}

/** A tile whose figure comes from an operation. */
function Figure<T>({
  label,
  isServed,
  query,
  children,
}: {
  label: string;
  isServed: boolean;
  query: Query<T>;
  children: (data: T) => { figure: ReactNode; hint: ReactNode };
}) {
  const { t } = useLanguage();
  if (!isServed) return <Tile label={label} figure="–" hint={t(home.notServed)} />;
  if (query.is === 'failed') return <Tile label={label} figure={<Failed error={query.error} />} />;
  if (query.data === undefined) return <Tile label={label} figure="…" hint={t(parts.loading)} />;
  return <Tile label={label} {...children(query.data)} />;
}

function Failed({ error }: { error: CallError }) {
  const { t } = useLanguage();
  const isDenied = error.code === 'DENIED';
  return <Badge tone={isDenied ? 'quiet' : 'bad'}>{isDenied ? t(home.notAllowed) : t(home.unknown)}</Badge>;
}
