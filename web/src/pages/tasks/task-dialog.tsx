// One task: what it says, its inputs opened in place, and what may be done with it.

import { useState } from 'react';
import type { CallError, Input } from '../../api/client.ts';
import { asCallError } from '../../api/query.ts';
import { useClient, useIsServed, useSession } from '../../api/session.tsx';
import { useLanguage } from '../../i18n/language.tsx';
import { tasks as words } from '../../i18n/messages/tasks.ts';
import { Button, type ButtonLook } from '../../parts/button.tsx';
import { Mono } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextAreaField } from '../../parts/field.tsx';
import { Badge, Facts, Notice, Time } from '../../parts/page.tsx';
import { ErrorState } from '../../parts/states.tsx';
import { useToast } from '../../parts/toast.tsx';
import { InputDocument } from './input-document.tsx';
import { type Action, actionsOf, type Task } from './tasks.ts';

const NOTES_CHARS_MAX = 4_000;

const LOOKS: Record<Action, ButtonLook> = { start: 'plain', renew: 'plain', complete: 'primary', reset: 'danger' };

export function TaskDialog({ task, onClose, onChanged }: { task: Task; onClose: () => void; onChanged: (task: Task) => void }) {
  const { t } = useLanguage();
  const { actor } = useSession();
  const canChange = useIsServed('update_task_status');
  const actions = canChange ? actionsOf(task, actor) : [];
  const [notes, setNotes] = useState('');
  const change = useChange(task, notes, onChanged);
  return (
    <Dialog
      title={t(words.of, { task: task.task_id })}
      onClose={onClose}
      size="wide"
      actions={actions.map((action) => (
        <Button key={action} look={LOOKS[action]} onClick={() => change.run(action)} isBusy={change.busy === action}>
          {t(words[action])}
        </Button>
      ))}
    >
      <div className="stack">
        <TaskFacts task={task} />
        <section className="stack" aria-labelledby="task-inputs">
          <h3 id="task-inputs">{t(words.inputs)}</h3>
          {task.inputs.length === 0 && <p className="quiet">{t(words.inputsNone)}</p>}
          <ul className="disclosures">
            {task.inputs.map((input) => (
              <li key={input.name}>
                <InputDocument input={input} />
              </li>
            ))}
          </ul>
        </section>
        {actions.includes('complete') && (
          <TextAreaField
            label={t(words.notes)}
            hint={t(words.notesHint)}
            isOptional
            value={notes}
            onChange={({ target }) => setNotes(target.value)}
            maxLength={NOTES_CHARS_MAX}
          />
        )}
        {actions.includes('start') && (
          <Notice tone="info">
            <p>{t(words.startHint)}</p>
          </Notice>
        )}
        {task.status === 'in_progress' && task.claimed_by != null && task.claimed_by !== actor && (
          <Notice tone="warn">
            <p>{t(words.othersClaim, { actor: task.claimed_by })}</p>
          </Notice>
        )}
        {change.error && <ErrorState error={change.error} />}
      </div>
    </Dialog>
  );
}

function useChange(task: Task, notes: string, onChanged: (task: Task) => void) {
  const { t } = useLanguage();
  const client = useClient();
  const toast = useToast();
  const [busy, setBusy] = useState<Action>();
  const [error, setError] = useState<CallError>();
  const run = async (action: Action) => {
    setBusy(action);
    setError(undefined);
    try {
      const { updated_task } = await client.call('update_task_status', inputFor(task, action, notes.trim()));
      toast('ok', t(words.doneToasts[action], { task: task.task_id }));
      onChanged(updated_task);
    } catch (thrown) {
      setError(asCallError(thrown));
    } finally {
      setBusy(undefined);
    }
  };
  return { busy, error, run };
}

function inputFor({ task_id }: Task, action: Action, notes: string): Input<'update_task_status'> {
  switch (action) {
    case 'start':
    case 'renew':
      return { task_id, status: 'in_progress' };
    case 'complete':
      return { task_id, status: 'completed', ...(notes ? { completion_notes: notes } : {}) };
    case 'reset':
      return { task_id, status: 'pending', reset: true };
  }
}

function TaskFacts({ task }: { task: Task }) {
  const { t } = useLanguage();
  const tone = { pending: 'quiet', in_progress: 'info', completed: 'ok' } as const;
  const time = (value: string | null | undefined, label: string) => (value ? { label, value: <Time value={value} /> } : null);
  return (
    <Facts
      facts={[
        { label: t(words.description), value: task.description },
        { label: t(words.status), value: <Badge tone={tone[task.status]}>{t(words.statuses[task.status])}</Badge> },
        { label: t(words.document), value: <Mono>{task.artifact_id}</Mono> },
        { label: t(words.generator), value: <Mono>{task.generator}</Mono> },
        { label: t(words.project), value: <Mono>{task.project_id}</Mono> },
        task.claimed_by ? { label: t(words.claimedBy), value: <Mono>{task.claimed_by}</Mono> } : null,
        task.claimed_by && !task.lease_expires_at ? { label: t(words.leaseUntil), value: t(words.leaseNone) } : null,
        time(task.lease_expires_at, t(words.leaseUntil)),
        time(task.created_at, t(words.created)),
        time(task.started_at, t(words.started)),
        time(task.completed_at, t(words.completedAt)),
        task.correlation_id ? { label: t(words.correlation), value: <Mono>{task.correlation_id}</Mono> } : null,
        task.completion_notes ? { label: t(words.notes), value: <span className="kept-lines">{task.completion_notes}</span> } : null,
      ]}
    />
  );
}
