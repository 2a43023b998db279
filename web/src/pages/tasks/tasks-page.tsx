// The board of tasks: what waits, what is worked on, what is done; and taking the next one.

import { useState } from 'react';
import type { CallError } from '../../api/client.ts';
import { type Pages, usePages } from '../../api/pages.ts';
import { asCallError } from '../../api/query.ts';
import { useClient, useIsServed, useSession } from '../../api/session.tsx';
import { useLanguage } from '../../i18n/language.tsx';
import { tasks as words } from '../../i18n/messages/tasks.ts';
import { Board, BoardCard, BoardColumn } from '../../parts/board.tsx';
import { Button } from '../../parts/button.tsx';
import { Mono } from '../../parts/copy.tsx';
import { Badge, PageHead, Time } from '../../parts/page.tsx';
import { ErrorState, WhenServed } from '../../parts/states.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useSearch } from '../../router/router.tsx';
import { TaskDialog } from './task-dialog.tsx';
import { TaskFilterForm } from './task-filter-form.tsx';
import { hasMandatory, holderOf, inputOf, parseTaskFilters, type Status, type Task, type TaskFilters } from './tasks.ts';

const PAGE_SIZE = 50;

export function TasksPage() {
  const { t } = useLanguage();
  return (
    <WhenServed operation="list_tasks" title={t(words.title)}>
      <TaskBoard />
    </WhenServed>
  );
}

function useColumn(search: string, filters: TaskFilters, status: Status): Pages<Task> {
  const client = useClient();
  return usePages(search, async (cursor, signal) => {
    const input = { ...inputOf(filters, status), limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) };
    const { tasks, next_cursor } = await client.call('list_tasks', input, { signal });
    return { items: tasks, next: next_cursor ?? undefined };
  });
}

function TaskBoard() {
  const { t } = useLanguage();
  const search = useSearch();
  const filters = parseTaskFilters(search);
  const [open, setOpen] = useState<Task>();
  const columns = {
    pending: useColumn(search, filters, 'pending'),
    in_progress: useColumn(search, filters, 'in_progress'),
    completed: useColumn(search, filters, 'completed'),
  };
  const reload = () => Object.values(columns).forEach((column) => column.reload());
  const claim = useClaim(filters.project_id, (task) => {
    setOpen(task);
    reload();
  });
  const failed = Object.values(columns).find((column) => column.error)?.error ?? claim.error;
  return (
    <>
      <PageHead
        title={t(words.title)}
        lead={t(words.lead)}
        actions={
          <>
            <Button icon="reload" onClick={reload} isBusy={Object.values(columns).some((column) => column.isLoading)}>
              {t(words.reload)}
            </Button>
            {claim.isServed && (
              <Button look="primary" icon="claim" onClick={claim.run} isBusy={claim.isBusy}>
                {t(words.claimNext)}
              </Button>
            )}
          </>
        }
      />
      <TaskFilterForm key={search} filters={filters} onSame={reload} />
      {failed && <ErrorState error={failed} onRetry={reload} />}
      <Board label={t(words.board)}>
        {Object.entries(columns).map(([status, column]) => (
          <Column key={status} status={status as Status} column={column} onOpen={setOpen} />
        ))}
      </Board>
      {open && (
        <TaskDialog
          task={open}
          onClose={() => setOpen(undefined)}
          onChanged={(task) => {
            setOpen(task.status === 'in_progress' ? task : undefined);
            reload();
          }}
        />
      )}
    </>
  );
}

function useClaim(project_id: string | undefined, onClaimed: (task: Task) => void) {
  const { t } = useLanguage();
  const client = useClient();
  const toast = useToast();
  const isServed = useIsServed('get_next_task');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<CallError>();
  const run = async () => {
    setIsBusy(true);
    setError(undefined);
    try {
      const { task } = await client.call('get_next_task', { claim: true, ...(project_id ? { project_id } : {}) });
      toast('ok', task ? t(words.claimed, { task: task.task_id }) : t(words.noneToClaim));
      if (task) onClaimed(task);
    } catch (thrown) {
      setError(asCallError(thrown));
    } finally {
      setIsBusy(false);
    }
  };
  return { isServed, isBusy, error, run };
}

function Column({ status, column, onOpen }: { status: Status; column: Pages<Task>; onOpen: (task: Task) => void }) {
  const { t } = useLanguage();
  return (
    <BoardColumn
      title={t(words.statuses[status])}
      count={column.items?.length}
      hasMore={column.hasMore}
      isLoading={column.isLoading}
      onMore={column.more}
      empty={t(words.columnEmpty[status])}
    >
      {column.items?.map((task) => <TaskCard key={task.task_id} task={task} onOpen={onOpen} />)}
    </BoardColumn>
  );
}

function TaskCard({ task, onOpen }: { task: Task; onOpen: (task: Task) => void }) {
  const { t, tn } = useLanguage();
  return (
    <BoardCard
      heading={
        <button type="button" className="card-link" onClick={() => onOpen(task)} aria-haspopup="dialog">
          <Mono>{task.artifact_id}</Mono> <span className="card-title">{task.description}</span>
        </button>
      }
    >
      <p className="card-line">
        <span>
          <Mono>{task.task_id}</Mono> · {task.generator} · {tn(words.count, task.inputs.length)}
        </span>
      </p>
      <p className="card-line">
        {task.status === 'in_progress' && <HolderBadge task={task} />}
        {!hasMandatory(task) && <Badge tone="warn">{t(words.noMandatory)}</Badge>}
        <Time value={task.completed_at ?? task.started_at ?? task.created_at} />
      </p>
    </BoardCard>
  );
}

export function HolderBadge({ task }: { task: Task }) {
  const { t } = useLanguage();
  const { actor } = useSession();
  const holder = holderOf(task, actor, new Date());
  const tones = { nobody: 'quiet', me: 'ok', other: 'info', late: 'warn' } as const;
  const text = holder === 'nobody' || holder === 'me' ? t(words.holders[holder]) : t(words.holders[holder], { actor: task.claimed_by ?? '' });
  return <Badge tone={tones[holder]}>{text}</Badge>;
}
