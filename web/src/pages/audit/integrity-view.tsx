// Checks the whole log, and shows what this browser holds against the server.

import { type FormEvent, useState } from 'react';
import type { CallError, Output } from '../../api/client.ts';
import { asCallError } from '../../api/query.ts';
import { useClient } from '../../api/session.tsx';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { proof as words } from '../../i18n/messages/proof.ts';
import { Button } from '../../parts/button.tsx';
import { Hash, Mono, Snippet } from '../../parts/copy.tsx';
import { TextField } from '../../parts/field.tsx';
import { Facts, Notice, Section, Time } from '../../parts/page.tsx';
import { Progress } from '../../parts/progress.tsx';
import { ErrorState, WhenServed } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { Link } from '../../router/router.tsx';
import { pathOf } from '../../router/routes.ts';
import {
  type Comparison,
  compare,
  forgetSeen,
  readSeen,
  readTrustedKey,
  rootAsBase64,
  type SeenCheckpoint,
  writeTrustedKey,
} from '../../proof/memory.ts';
import { parseVerifierKey } from '../../proof/note.ts';
import { canVerify, type Report, verifyCheckpoint } from '../../proof/proof.ts';
import { rememberProven } from './proof-panel.tsx';
import { CannotVerify, ProofReport, SeenNotice } from './proof-report.tsx';
import { saveFile } from '../../parts/save-file.ts';

type Verified = Output<'audit_verify'>;

interface Whole {
  verified: Verified;
  comparison: Comparison | undefined;
}

export function IntegrityView() {
  const { t } = useLanguage();
  // The memory is read anew after it has changed.
  const [round, setRound] = useState(0);
  return (
    <>
      <Section title={t(words.wholeTitle)} lead={t(words.wholeLead)}>
        <WhenServed operation="audit_verify">
          <WholeLog />
        </WhenServed>
      </Section>
      <Section title={t(words.checkpointTitle)} lead={t(words.checkpointLead)}>
        <WhenServed operation="audit_checkpoint">
          <SignedCheckpoint onRemembered={() => setRound(round + 1)} />
        </WhenServed>
      </Section>
      <Memory key={round} />
    </>
  );
}

function WholeLog() {
  const { t, tn, number } = useLanguage();
  const client = useClient();
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<CallError>();
  const [whole, setWhole] = useState<Whole>();
  const verified = whole?.verified;
  const run = async () => {
    setIsBusy(true);
    setError(undefined);
    setWhole(undefined);
    try {
      const seen = readSeen();
      const answer = await client.call('audit_verify', {});
      setWhole({ verified: answer, comparison: compareRoot(answer, seen) });
    } catch (thrown) {
      setError(asCallError(thrown));
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <div className="stack">
      <div>
        <Button look="primary" icon="shield" onClick={run} isBusy={isBusy}>
          {t(words.wholeStart)}
        </Button>
      </div>
      {isBusy && <Progress label={t(words.wholeRunning)} />}
      {error && <ErrorState error={error} onRetry={run} />}
      <div role="status">
        {verified && (
          <>
            <Notice
              tone={verified.ok ? 'ok' : 'bad'}
              title={verified.ok ? t(words.wholeOk) : tn(words.wholeBad, verified.n_problems ?? verified.problems.length)}
            />
            <SeenNotice comparison={whole.comparison} />
          </>
        )}
      </div>
      {verified && (
        <div className="card">
          <Facts
            facts={[
              { label: t(words.treeSize), value: number(verified.tree_size) },
              { label: t(words.rootHash), value: <Hash>{verified.root_hash}</Hash> },
              { label: t(words.eventsChecked), value: number(verified.n_events_checked) },
              { label: t(words.objectsChecked), value: number(verified.n_objects_checked) },
            ]}
          />
        </div>
      )}
      {verified && verified.problems.length > 0 && <Problems problems={verified.problems} />}
    </div>
  );
}

function compareRoot({ tree_size, root_hash }: Verified, seen: SeenCheckpoint | null): Comparison | undefined {
  const rootHash = rootAsBase64(root_hash);
  return rootHash === null ? undefined : compare(seen, { treeSize: tree_size, rootHash });
}

interface Checked {
  answer: Output<'audit_checkpoint'>;
  report: Report;
  comparison: Comparison | undefined;
}

function SignedCheckpoint({ onRemembered }: { onRemembered: () => void }) {
  const { t } = useLanguage();
  const client = useClient();
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<CallError>();
  const [checked, setChecked] = useState<Checked>();
  const run = async () => {
    setIsBusy(true);
    setError(undefined);
    try {
      const seen = readSeen();
      const answer = await client.call('audit_checkpoint', {});
      const report = await verifyCheckpoint(answer.checkpoint, answer.log_key, readTrustedKey() ?? undefined);
      setChecked({ answer, report, comparison: rememberProven(report, seen) });
      onRemembered();
    } catch (thrown) {
      setError(asCallError(thrown));
    } finally {
      setIsBusy(false);
    }
  };
  if (!canVerify()) return <CannotVerify />;
  return (
    <div className="stack">
      <div>
        <Button icon="shield" onClick={run} isBusy={isBusy}>
          {t(words.checkpointGet)}
        </Button>
      </div>
      {error && <ErrorState error={error} onRetry={run} />}
      {checked && (
        <div className="card stack">
          <ProofReport report={checked.report} comparison={checked.comparison} of="checkpoint" />
          <Snippet label={t(words.checkpointText)} text={checked.answer.checkpoint} />
          <Snippet label={t(words.keyText)} text={checked.answer.log_key} />
          <div>
            <Button
              icon="download"
              onClick={() => saveFile(`materia-checkpoint-${checked.answer.tree_size}.txt`, [checked.answer.checkpoint], 'text/plain')}
            >
              {t(words.checkpointDownload)}
            </Button>
          </div>
        </div>
      )}
    </div>
  );
}

function Problems({ problems }: { problems: Verified['problems'] }) {
  const { t } = useLanguage();
  const rows = problems.map((problem, at) => ({ ...problem, at }));
  return (
    <Table
      caption={t(words.problems)}
      rows={rows}
      keyOf={({ at }) => String(at)}
      columns={[
        { id: 'kind', label: t(words.problemKind), isHeading: true, cell: ({ kind }) => <Mono>{kind}</Mono> },
        {
          id: 'where',
          label: t(words.problemWhere),
          cell: ({ leaf_index, call_id }) => (
            <>
              {leaf_index != null && <span>{t(words.problemIndex, { index: leaf_index })} </span>}
              {call_id && (
                <Link to={pathOf({ page: 'event', call_id })} className="mono">
                  {call_id}
                </Link>
              )}
            </>
          ),
        },
        { id: 'what', label: t(words.problemWhat), cell: ({ message }) => <bdi lang="en">{message}</bdi> },
      ]}
    />
  );
}

function Memory() {
  const { t, number } = useLanguage();
  const [trusted, setTrusted] = useState(readTrustedKey);
  const [seen, setSeen] = useState(readSeen);
  const forget = (what: 'key' | 'checkpoint') => {
    if (what === 'key') {
      writeTrustedKey(null);
      setTrusted(null);
    } else {
      forgetSeen();
      setSeen(null);
    }
  };
  return (
    <Section title={t(words.memoryTitle)} lead={t(words.memoryLead)}>
      <div className="card stack">
        <div className="memory">
          <div>
            <h3>{t(words.memoryKey)}</h3>
            {trusted === null ? <p className="quiet">{t(words.memoryNoKey)}</p> : <Hash>{trusted}</Hash>}
          </div>
          {trusted !== null && (
            <Button look="danger" onClick={() => forget('key')} aria-label={`${t(words.forget)}: ${t(words.memoryKey)}`}>
              {t(words.forget)}
            </Button>
          )}
        </div>
        {trusted === null && canVerify() && <KeyForm onTrust={setTrusted} />}
        <div className="memory">
          <div>
            <h3>{t(words.memoryCheckpoint)}</h3>
            {seen === null ? (
              <p className="quiet">{t(words.memoryNoCheckpoint)}</p>
            ) : (
              <>
                <p>
                  <Text
                    of={words.memoryCheckpointIs}
                    values={{ size: number(seen.treeSize), time: <Time value={seen.verifiedAt} /> }}
                  />
                </p>
                <Hash>{`${seen.origin} ${seen.rootHash}`}</Hash>
              </>
            )}
          </div>
          {seen !== null && (
            <Button
              look="danger"
              onClick={() => forget('checkpoint')}
              aria-label={`${t(words.forget)}: ${t(words.memoryCheckpoint)}`}
            >
              {t(words.forget)}
            </Button>
          )}
        </div>
      </div>
    </Section>
  );
}

function KeyForm({ onTrust }: { onTrust: (key: string) => void }) {
  const { t } = useLanguage();
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if ((await parseVerifierKey(key)) === null) return setProblem(t(words.keyWrong));
    writeTrustedKey(key.trim());
    onTrust(key.trim());
  };
  return (
    <form className="inline-form" onSubmit={submit}>
      <TextField
        label={t(words.keyField)}
        hint={<Text of={words.keyFieldHint} />}
        error={problem}
        value={key}
        onChange={({ target }) => setKey(target.value)}
      />
      <Button type="submit" icon="key">
        {t(words.trust)}
      </Button>
    </form>
  );
}

