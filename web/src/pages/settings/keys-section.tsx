// The API keys: who has which, new ones, and taking them away.

import { useState } from 'react';
import type { CallError, Output } from '../../api/client.ts';
import { asCallError, useQuery } from '../../api/query.ts';
import { useClient, useIsServed } from '../../api/session.tsx';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { parts } from '../../i18n/messages/parts.ts';
import { settings } from '../../i18n/messages/settings.ts';
import { Button } from '../../parts/button.tsx';
import { Mono, Snippet } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Badge, Notice, Section, type Tone } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { formatDay } from '../../parts/time.ts';
import { useToast } from '../../parts/toast.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { type Key, type KeyState, stateOf } from './keys.ts';

const TONES: Record<KeyState, Tone> = { active: 'ok', expired: 'warn', revoked: 'quiet' };

type Open = { is: 'none' } | { is: 'create' } | { is: 'created'; answer: Output<'create_key'>; actor: string } | { is: 'revoke'; key: Key };

export function KeysSection() {
  const { t } = useLanguage();
  const client = useClient();
  const canCreate = useIsServed('create_key');
  const [open, setOpen] = useState<Open>({ is: 'none' });
  const listed = useQuery('keys', (signal) => client.call('list_keys', {}, { signal }));
  const close = () => setOpen({ is: 'none' });
  const keys = listed.data?.keys;
  const newKey = canCreate && (
    <Button look="primary" icon="plus" onClick={() => setOpen({ is: 'create' })}>
      {t(settings.createKey)}
    </Button>
  );
  return (
    <Section title={t(settings.keys)} lead={t(settings.keysLead)} actions={keys && keys.length > 0 && newKey}>
      {listed.is === 'failed' && <ErrorState error={listed.error} onRetry={listed.reload} />}
      {listed.is === 'loading' && keys === undefined && <Loading />}
      {keys?.length === 0 && (
        <EmptyState icon="key" title={t(settings.noKeysTitle)} actions={newKey}>
          <p>{t(settings.noKeysBody)}</p>
        </EmptyState>
      )}
      {keys && keys.length > 0 && <KeyTable keys={keys} onRevoke={(key) => setOpen({ is: 'revoke', key })} />}
      {open.is === 'create' && (
        <CreateKeyDialog
          onClose={close}
          onCreated={(answer, actor) => {
            setOpen({ is: 'created', answer, actor });
            listed.reload();
          }}
        />
      )}
      {open.is === 'created' && <CreatedDialog answer={open.answer} actor={open.actor} onClose={close} />}
      {open.is === 'revoke' && (
        <RevokeDialog
          revoked={open.key}
          onClose={close}
          onDone={() => {
            close();
            listed.reload();
          }}
        />
      )}
    </Section>
  );
}

function KeyTable({ keys, onRevoke }: { keys: Key[]; onRevoke: (key: Key) => void }) {
  const { t } = useLanguage();
  const canRevoke = useIsServed('revoke_key');
  const now = new Date();
  const states = { active: t(settings.active), expired: t(settings.expired), revoked: t(settings.revoked) };
  const columns: Column<Key>[] = [
    {
      id: 'actor',
      label: t(settings.actor),
      isHeading: true,
      cell: (key) => (
        <>
          <Mono>{key.actor_id}</Mono>
          <span className="below quiet mono">{key.key_id}</span>
        </>
      ),
    },
    {
      id: 'state',
      label: t(settings.state),
      cell: (key) => {
        const state = stateOf(key, now);
        return <Badge tone={TONES[state]}>{states[state]}</Badge>;
      },
    },
    { id: 'roles', label: t(settings.roles), cell: (key) => <Words words={key.roles} /> },
    {
      id: 'scopes',
      label: t(settings.scopes),
      cell: (key) => (key.scopes.length > 0 ? <Words words={key.scopes} /> : <span className="quiet">{t(settings.allScopes)}</span>),
    },
    { id: 'created', label: t(settings.created), cell: (key) => <Day value={key.created_at} /> },
    {
      id: 'expires',
      label: t(settings.expiry),
      cell: (key) => (key.expires_at ? <Day value={key.expires_at} /> : t(settings.expiryNever)),
    },
  ];
  if (canRevoke) {
    columns.push({
      id: 'actions',
      label: t(settings.actions),
      cell: (key) =>
        stateOf(key, now) === 'revoked' ? (
          '–'
        ) : (
          <Button
            look="danger"
            onClick={() => onRevoke(key)}
            aria-label={t(settings.revokeOf, { actor: key.actor_id })}
          >
            {t(settings.revoke)}
          </Button>
        ),
    });
  }
  return (
    <Table
      caption={t(settings.keys)}
      columns={columns}
      rows={keys}
      keyOf={(key) => key.key_id}
      isDimmed={(key) => stateOf(key, now) !== 'active'}
    />
  );
}

function Words({ words }: { words: string[] }) {
  return (
    <ul className="words">
      {words.map((word) => (
        <li key={word} className="mono">
          {word}
        </li>
      ))}
    </ul>
  );
}

function Day({ value }: { value: string }) {
  return (
    <time dateTime={value} title={value} className="time">
      {formatDay(value)}
    </time>
  );
}

function CreatedDialog({ answer, actor, onClose }: { answer: Output<'create_key'>; actor: string; onClose: () => void }) {
  const { t } = useLanguage();
  return (
    <Dialog
      title={t(settings.createdTitle)}
      onClose={onClose}
      mustAnswer
      actions={
        <Button look="primary" onClick={onClose}>
          {t(settings.stored)}
        </Button>
      }
    >
      <div className="stack">
        <Notice tone="warn">
          <p>{t(settings.createdBody)}</p>
        </Notice>
        <Snippet label={t(settings.keyOf, { actor })} text={answer.key} />
      </div>
    </Dialog>
  );
}

function RevokeDialog({ revoked, onClose, onDone }: { revoked: Key; onClose: () => void; onDone: () => void }) {
  const { t } = useLanguage();
  const toast = useToast();
  const client = useClient();
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<CallError>();
  const run = async () => {
    setIsBusy(true);
    setError(undefined);
    try {
      await client.call('revoke_key', { key_id: revoked.key_id });
      toast('ok', t(settings.revokeDone, { actor: revoked.actor_id }));
      onDone();
    } catch (thrown) {
      setError(asCallError(thrown));
      setIsBusy(false);
    }
  };
  return (
    <Dialog
      title={t(settings.revokeTitle)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t(parts.cancel)}</Button>
          <Button look="danger" onClick={run} isBusy={isBusy}>
            {t(settings.revoke)}
          </Button>
        </>
      }
    >
      <p>
        <Text
          of={settings.revokeBody}
          values={{ key: <Mono>{revoked.key_id}</Mono>, actor: <Mono>{revoked.actor_id}</Mono> }}
        />
      </p>
      {error && <ErrorState error={error} />}
    </Dialog>
  );
}
