// Asks for the proof of one event and checks it in this browser.

import { useState } from 'react';
import type { CallError, Output } from '../../api/client.ts';
import { asCallError } from '../../api/query.ts';
import { useClient } from '../../api/session.tsx';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { proof as words } from '../../i18n/messages/proof.ts';
import { Button } from '../../parts/button.tsx';
import { Snippet } from '../../parts/copy.tsx';
import { Notice } from '../../parts/page.tsx';
import { ErrorState } from '../../parts/states.tsx';
import { useToast } from '../../parts/toast.tsx';
import { type Comparison, readSeen, readTrustedKey, remember, type SeenCheckpoint, writeTrustedKey } from '../../proof/memory.ts';
import { canVerify, type Report, verifyClaim } from '../../proof/proof.ts';
import type { Found } from './events.ts';
import { CannotVerify, ProofReport } from './proof-report.tsx';
import { saveFile } from '../../parts/save-file.ts';

interface Result {
  answer: Output<'audit_prove'>;
  /** What this browser had seen before it asked. */
  seen: SeenCheckpoint | null;
  report: Report;
  /** Absent where nothing is proven. */
  comparison: Comparison | undefined;
}

export function ProofPanel({ found }: { found: Found }) {
  const { t } = useLanguage();
  const toast = useToast();
  const client = useClient();
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<CallError>();
  const [result, setResult] = useState<Result>();

  const check = async (answer: Output<'audit_prove'>, seen: SeenCheckpoint | null) => {
    const { event, leaf_index } = found;
    const report = await verifyClaim({
      eventJson: answer.event_json,
      proof: answer.proof,
      logKey: answer.log_key,
      trustedKey: readTrustedKey() ?? undefined,
      expected: { event, leafIndex: leaf_index ?? null, checkpoint: answer.checkpoint },
    });
    setResult({ answer, seen, report, comparison: rememberProven(report, seen) });
  };
  const run = async () => {
    setIsBusy(true);
    setError(undefined);
    try {
      const seen = readSeen();
      await check(await client.call('audit_prove', { call_id: found.event.call_id }), seen);
    } catch (thrown) {
      setError(asCallError(thrown));
    } finally {
      setIsBusy(false);
    }
  };
  const trust = async ({ answer, seen }: Result) => {
    writeTrustedKey(answer.log_key);
    await check(answer, seen);
    toast('ok', t(words.trusted));
  };

  return (
    <section className="card proof-panel" aria-label={t(words.title)}>
      <h2>{t(words.title)}</h2>
      <p>{t(words.lead)}</p>
      {found.leaf_index == null && !result && (
        <Notice tone="info" title={t(words.pendingTitle)}>
          <p>{t(words.pendingBody)}</p>
        </Notice>
      )}
      {canVerify() ? (
        <div>
          <Button look={result ? 'plain' : 'primary'} icon="shield" onClick={run} isBusy={isBusy}>
            {t(result ? words.verifyAgain : words.verify)}
          </Button>
        </div>
      ) : (
        <CannotVerify />
      )}
      {error && <ErrorState error={error} onRetry={run} />}
      {result && (
        <>
          <ProofReport report={result.report} comparison={result.comparison} of="event" />
          {result.report.isProven && readTrustedKey() === null && <Trust onTrust={() => trust(result)} logKey={result.answer.log_key} />}
          <Texts answer={result.answer} />
        </>
      )}
    </section>
  );
}

/** Remembers the checkpoint of a proof that holds; one that does not hold is worth no memory. */
export function rememberProven({ isProven, facts }: Report, seen: SeenCheckpoint | null): Comparison | undefined {
  const { origin, treeSize, rootHash } = facts;
  if (!isProven || origin === undefined || treeSize === undefined || rootHash === undefined) return undefined;
  return remember({ origin, treeSize, rootHash, verifiedAt: new Date().toISOString() }, seen);
}

function Trust({ logKey, onTrust }: { logKey: string; onTrust: () => void }) {
  const { t } = useLanguage();
  return (
    <div className="stack">
      <p>
        <Text of={words.trustLead} />
      </p>
      <Snippet label={t(words.keyText)} text={logKey} />
      <div>
        <Button icon="key" onClick={onTrust}>
          {t(words.trust)}
        </Button>
      </div>
    </div>
  );
}

function Texts({ answer }: { answer: Output<'audit_prove'> }) {
  const { t } = useLanguage();
  const name = `materia-event-${answer.leaf_index}`;
  return (
    <details>
      <summary>{t(words.showProof)}</summary>
      <div className="stack">
        <Snippet label={t(words.proofText)} text={answer.proof} />
        <Snippet label={t(words.keyText)} text={answer.log_key} />
        <div className="row">
          <Button icon="download" onClick={() => saveFile(`${name}.tlog-proof`, [answer.proof], 'text/plain')}>
            {t(words.download)}
          </Button>
          <Button icon="download" onClick={() => saveFile(`${name}.json`, [answer.event_json], 'application/json')}>
            {t(words.downloadEvent)}
          </Button>
        </div>
      </div>
    </details>
  );
}
