// Asks what a new key is for.

import { type FormEvent, useId, useState } from 'react';
import type { CallError, Input, Output } from '../../api/client.ts';
import { asCallError } from '../../api/query.ts';
import { useClient } from '../../api/session.tsx';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { parts } from '../../i18n/messages/parts.ts';
import { settings } from '../../i18n/messages/settings.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { CheckField, SelectField, TextAreaField, TextField } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ErrorState } from '../../parts/states.tsx';
import { isActorId, parseScopes, ROLES, type Role } from './keys.ts';

const EXPIRY_DAYS = [30, 90, 365];

export function CreateKeyDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (answer: Output<'create_key'>, actor: string) => void;
}) {
  const { t } = useLanguage();
  const client = useClient();
  const [actor, setActor] = useState('');
  const [roles, setRoles] = useState<Role[]>([]);
  const [scopes, setScopes] = useState('');
  const [days, setDays] = useState('90');
  const [wasTried, setWasTried] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<CallError>();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setWasTried(true);
    if (isBusy || !isActorId(actor.trim()) || roles.length === 0) return;
    const input: Input<'create_key'> = { actor_id: actor.trim(), roles };
    const wanted = parseScopes(scopes);
    if (wanted.length > 0) input.scopes = wanted;
    if (days !== '') input.expires_in_days = Number(days);
    setIsBusy(true);
    setError(undefined);
    try {
      onCreated(await client.call('create_key', input), actor.trim());
    } catch (thrown) {
      setError(asCallError(thrown));
      setIsBusy(false);
    }
  };
  return (
    <Dialog title={t(settings.createKey)} onClose={onClose}>
      <form className="stack" onSubmit={submit} noValidate>
        <TextField
          label={t(settings.actor)}
          hint={<Text of={settings.actorHint} />}
          error={wasTried && !isActorId(actor.trim()) ? t(settings.actorWrong) : undefined}
          value={actor}
          onChange={({ target }) => setActor(target.value)}
          maxLength={128}
        />
        <RoleChoice chosen={roles} onChange={setRoles} isMissing={wasTried && roles.length === 0} />
        <SelectField
          label={t(settings.expiry)}
          value={days}
          onChange={({ target }) => setDays(target.value)}
          options={[
            ...EXPIRY_DAYS.map((count) => ({ value: String(count), label: t(settings.expiryDays, { days: count }) })),
            { value: '', label: t(settings.expiryNever) },
          ]}
        />
        <TextAreaField
          label={t(settings.scopes)}
          hint={<Text of={settings.scopesHint} />}
          isOptional
          value={scopes}
          onChange={({ target }) => setScopes(target.value)}
          rows={2}
        />
        {error && <ErrorState error={error} />}
        <div className="dialog-foot">
          <Button onClick={onClose}>{t(parts.cancel)}</Button>
          <Button look="primary" type="submit" isBusy={isBusy}>
            {t(settings.create)}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function RoleChoice({ chosen, onChange, isMissing }: { chosen: Role[]; onChange: (roles: Role[]) => void; isMissing: boolean }) {
  const { t } = useLanguage();
  const id = useId();
  return (
    <fieldset className="choice" aria-describedby={`${id}-hint`}>
      <legend>{t(settings.roles)}</legend>
      <p className="field-hint" id={`${id}-hint`}>
        {t(settings.rolesHint)}
      </p>
      <div className="choice-grid">
        {ROLES.map((role) => (
          <CheckField
            key={role}
            label={<span className="mono">{role}</span>}
            hint={t(settings.roleNames[role])}
            checked={chosen.includes(role)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, role] : chosen.filter((one) => one !== role))
            }
          />
        ))}
      </div>
      {isMissing && (
        <p className="field-error" role="alert">
          <Icon name="warning" />
          {t(settings.rolesMissing)}
        </p>
      )}
    </fieldset>
  );
}
