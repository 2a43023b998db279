// The result of a check, step by step, with the numbers it rests on.

import { Text, useLanguage } from '../../i18n/language.tsx';
import type { Message } from '../../i18n/message.ts';
import { proof as words } from '../../i18n/messages/proof.ts';
import { Hash } from '../../parts/copy.tsx';
import { Badge, Facts, Notice, type Tone } from '../../parts/page.tsx';
import type { Comparison } from '../../proof/memory.ts';
import type { Facts as ProofFacts, Report, StepId, StepState } from '../../proof/proof.ts';

const STEPS: Record<StepId, Message> = {
  event: words.stepEvent,
  format: words.stepFormat,
  inclusion: words.stepInclusion,
  signature: words.stepSignature,
  key: words.stepKey,
};

const STATES: Record<StepState, { tone: Tone; label: Message }> = {
  passed: { tone: 'ok', label: words.passed },
  failed: { tone: 'bad', label: words.failed },
  unchecked: { tone: 'quiet', label: words.unchecked },
  unknown: { tone: 'warn', label: words.unknown },
};

/** What was checked: an event on the screen, an event that was pasted, or a checkpoint alone. */
export type Subject = 'event' | 'pasted' | 'checkpoint';

export function ProofReport({ report, comparison, of }: { report: Report; comparison?: Comparison | undefined; of: Subject }) {
  const { t } = useLanguage();
  return (
    <div className="proof-report">
      <div role="status">
        <Verdict report={report} of={of} />
        <SeenNotice comparison={comparison} />
      </div>
      <ol className="steps" aria-label={t(words.steps)}>
        {report.steps.map(({ id, state }) => {
          const isJsonOnly = id === 'event' && of === 'pasted';
          const shown = isJsonOnly && state === 'unknown' ? STATES.passed : STATES[state];
          return (
            <li key={id}>
              <span>{t(isJsonOnly ? words.stepEventPasted : STEPS[id])}</span>
              <Badge tone={shown.tone}>{t(shown.label)}</Badge>
            </li>
          );
        })}
      </ol>
      <FactList facts={report.facts} />
    </div>
  );
}

function Verdict({ report, of }: { report: Report; of: Subject }) {
  const { t } = useLanguage();
  if (!report.isProven) {
    const isBroken = report.steps.some(({ state }) => state === 'failed');
    return isBroken ? (
      <Notice tone="bad" title={t(words.notProvenTitle)}>
        <p>{t(words.notProvenBody)}</p>
      </Notice>
    ) : (
      <CannotVerify />
    );
  }
  const isOpen = report.steps.some(({ id, state }) => id === 'key' && state === 'unknown');
  return (
    <Notice tone="ok" title={t(words.provenTitle)}>
      <p>{t(of === 'checkpoint' ? words.checkpointSigned : words.provenBody)}</p>
      {isOpen && <p>{t(words.provenOpenKey)}</p>}
    </Notice>
  );
}

/** Shown instead of the check where the browser lacks what it needs. */
export function CannotVerify() {
  const { t } = useLanguage();
  return (
    <Notice tone="warn" title={t(words.cannotTitle)}>
      <p>
        <Text of={words.cannotBody} />
      </p>
    </Notice>
  );
}

/** What this browser has seen before counts against what it is shown. */
export function SeenNotice({ comparison }: { comparison: Comparison | undefined }) {
  const { t, number } = useLanguage();
  const size = number(comparison?.seenSize ?? 0);
  if (comparison?.relation === 'older') {
    return (
      <Notice tone="warn">
        <p>{t(words.seenOlder, { size })}</p>
      </Notice>
    );
  }
  if (comparison?.relation === 'forked') {
    return (
      <Notice tone="bad">
        <p>{t(words.seenForked, { size })}</p>
      </Notice>
    );
  }
  return null;
}

function FactList({ facts }: { facts: ProofFacts }) {
  const { t, tn, number } = useLanguage();
  const { leafHash, leafIndex, treeSize, pathLength, origin, rootHash, keyName, keyId, nOtherSignatures } = facts;
  const mono = (label: Message, value: string | undefined) =>
    value === undefined ? null : { label: t(label), value: <Hash>{value}</Hash> };
  return (
    <Facts
      facts={[
        mono(words.leafHash, leafHash),
        treeSize !== undefined && leafIndex === undefined ? { label: t(words.treeSize), value: number(treeSize) } : null,
        leafIndex === undefined || treeSize === undefined
          ? null
          : { label: t(words.place), value: t(words.placeOf, { index: number(leafIndex), size: number(treeSize) }) },
        pathLength === undefined ? null : { label: t(words.pathLength), value: tn(words.hashes, pathLength) },
        mono(words.origin, origin),
        mono(words.rootHash, rootHash),
        keyName === undefined ? null : { label: t(words.key), value: <Hash>{`${keyName} ${keyId ?? ''}`}</Hash> },
        nOtherSignatures
          ? { label: t(words.others), value: t(words.othersHint, { count: number(nOtherSignatures) }) }
          : null,
      ]}
    />
  );
}
