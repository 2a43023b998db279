// Approving a document: with a meaning, bound to the bytes that were read; then what came of it.

import { type FormEvent, useId, useState } from 'react';
import type { CallError, Output } from '../../api/client.ts';
import { asCallError } from '../../api/query.ts';
import { useClient, useIsServed, useSession } from '../../api/session.tsx';
import { useLanguage } from '../../i18n/language.tsx';
import { documents as words } from '../../i18n/messages/documents.ts';
import { parts } from '../../i18n/messages/parts.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Hash, Mono } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { CheckField, TextField } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Facts, Notice } from '../../parts/page.tsx';
import { ErrorState } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { pathOf } from '../../router/routes.ts';
import { formatTaskFilters } from '../tasks/tasks.ts';
import type { Artifact } from './board.ts';

const MEANING_CHARS_MAX = 200;

type Approved = Output<'approve_artifact'>;

interface ApproveProps {
  artifact: Artifact;
  project_id: string | undefined;
  validation: Output<'validate_artifact'> | undefined;
  onClose: () => void;
  onApproved: (answer: Approved) => void;
}

export function ApproveDialog({ artifact, project_id, validation, onClose, onApproved }: ApproveProps) {
  const { t } = useLanguage();
  const client = useClient();
  const { actor } = useSession();
  const suggestions = useId();
  const [meaning, setMeaning] = useState<string>(t(words.meanings.reviewed));
  const [hasRead, setHasRead] = useState(false);
  const [wasTried, setWasTried] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<CallError>();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setWasTried(true);
    if (isBusy || meaning.trim() === '' || !hasRead) return;
    setIsBusy(true);
    setError(undefined);
    try {
      const { id: artifact_id, content_sha256 } = artifact;
      const input = { artifact_id, content_sha256, meaning: meaning.trim(), ...(project_id ? { project_id } : {}) };
      onApproved(await client.call('approve_artifact', input));
    } catch (thrown) {
      setError(asCallError(thrown));
      setIsBusy(false);
    }
  };
  return (
    <Dialog title={t(words.approveTitle, { id: artifact.id, version: artifact.version })} onClose={onClose}>
      <form className="stack" onSubmit={submit} noValidate>
        <p>{t(words.approveLead)}</p>
        {validation && !validation.passed && (
          <Notice tone="warn">
            <p>{t(words.openFindings, { rate: validation.automated_pass_rate })}</p>
          </Notice>
        )}
        {artifact.created_by === actor && (
          <Notice tone="warn">
            <p>{t(words.ownDocument)}</p>
          </Notice>
        )}
        <Facts
          facts={[
            actor === null ? null : { label: t(words.approveAs), value: <Mono>{actor}</Mono> },
            { label: t(words.approveHash), value: <Hash>{artifact.content_sha256}</Hash> },
          ]}
        />
        <TextField
          label={t(words.meaning)}
          hint={t(words.meaningHint)}
          error={wasTried && meaning.trim() === '' ? t(words.meaningMissing) : undefined}
          value={meaning}
          onChange={({ target }) => setMeaning(target.value)}
          maxLength={MEANING_CHARS_MAX}
          list={suggestions}
        />
        <datalist id={suggestions}>
          {Object.values(words.meanings).map((message) => (
            <option key={message.en} value={t(message)} />
          ))}
        </datalist>
        <div>
          <CheckField label={t(words.haveRead)} checked={hasRead} onChange={({ target }) => setHasRead(target.checked)} />
          {wasTried && !hasRead && (
            <p className="field-error" role="alert">
              <Icon name="warning" />
              {t(words.haveReadMissing)}
            </p>
          )}
        </div>
        {error && <ErrorState error={error} />}
        <div className="dialog-foot">
          <Button onClick={onClose}>{t(parts.cancel)}</Button>
          <Button look="primary" type="submit" icon="shield" isBusy={isBusy}>
            {t(words.approve)}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function ApprovedDialog({ answer, project_id, onClose }: { answer: Approved; project_id: string | undefined; onClose: () => void }) {
  const { t, tn } = useLanguage();
  const hasTasks = useIsServed('list_tasks');
  const mapped = Object.entries(answer.id_mapping);
  const search = formatTaskFilters({ ...(project_id ? { project_id } : {}), depends_on: answer.artifact_id, missing_mandatory_inputs: false });
  return (
    <Dialog
      title={t(words.approvedTitle, { id: answer.artifact_id })}
      onClose={onClose}
      actions={
        <>
          {hasTasks && answer.tasks_created > 0 && (
            <LinkButton to={pathOf({ page: 'tasks' }) + search} icon="tasks">
              {t(words.toTasks)}
            </LinkButton>
          )}
          <Button look="primary" onClick={onClose}>
            {t(parts.close)}
          </Button>
        </>
      }
    >
      <div className="stack">
        <Notice tone="ok" title={t(words.statusChange, { from: answer.old_status, to: answer.new_status })}>
          <p>{tn(words.tasksCreated, answer.tasks_created)}</p>
        </Notice>
        {mapped.length > 0 && (
          <Table
            caption={t(words.idMapping)}
            rows={mapped}
            keyOf={([placeholder]) => placeholder}
            columns={[
              { id: 'placeholder', label: t(words.placeholder), isHeading: true, cell: ([placeholder]) => <Mono>{placeholder}</Mono> },
              { id: 'id', label: t(words.finalId), cell: ([, id]) => <Mono>{id}</Mono> },
            ]}
          />
        )}
      </div>
    </Dialog>
  );
}
