// Moving an approved document to another status.

import { type FormEvent, useState } from 'react';
import type { CallError } from '../../api/client.ts';
import { asCallError } from '../../api/query.ts';
import { useClient } from '../../api/session.tsx';
import { useLanguage } from '../../i18n/language.tsx';
import { documents as words } from '../../i18n/messages/documents.ts';
import { Button } from '../../parts/button.tsx';
import { SelectField } from '../../parts/field.tsx';
import { ErrorState } from '../../parts/states.tsx';
import { useToast } from '../../parts/toast.tsx';
import { type Artifact, toneOf } from './board.ts';

interface StatusProps {
  artifact: Artifact;
  /** What the server says it may become. */
  statuses: readonly string[];
  project_id: string | undefined;
  onMoved: () => void;
}

export function StatusForm({ artifact, statuses, project_id, onMoved }: StatusProps) {
  const { t } = useLanguage();
  const client = useClient();
  const toast = useToast();
  const [status, setStatus] = useState('');
  const [wasTried, setWasTried] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<CallError>();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setWasTried(true);
    if (isBusy || status === '') return;
    setIsBusy(true);
    setError(undefined);
    try {
      const { id, version, content_sha256 } = artifact;
      const input = { artifact_id: id, version, content_sha256, status, ...(project_id ? { project_id } : {}) };
      const moved = await client.call('set_artifact_status', input);
      toast('ok', t(words.moved, { id, status: moved.status }));
      setStatus('');
      setWasTried(false);
      onMoved();
    } catch (thrown) {
      setError(asCallError(thrown));
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <section className="card" aria-labelledby="status">
      <h2 id="status">{t(words.status)}</h2>
      <form className="stack" onSubmit={submit} noValidate>
        <div className="inline-form">
          <SelectField
            label={t(words.moveTo)}
            hint={status !== '' && toneOf(status) === 'warn' ? t(words.withdraws) : undefined}
            error={wasTried && status === '' ? t(words.statusMissing) : undefined}
            value={status}
            onChange={({ target }) => setStatus(target.value)}
            options={[{ value: '', label: t(words.chooseStatus) }, ...statuses.map((one) => ({ value: one, label: one }))]}
          />
          <Button type="submit" isBusy={isBusy}>
            {t(words.move)}
          </Button>
        </div>
        {error && <ErrorState error={error} />}
      </form>
    </section>
  );
}
