// Small signs on facts and papers: what kind of thing, how strong, checked or not, withdrawn or not, in whose words.

import { useLanguage } from '../i18n/language.tsx';
import { evidence } from '../i18n/messages/evidence.ts';
import { Badge, type Tone } from '../parts/page.tsx';
import { useWords } from './words.ts';

export function KindTag({ kind }: { kind: string }) {
  const words = useWords();
  return <span className="kind-tag">{words.kind(kind)}</span>;
}

const STRENGTH_TONES: Record<string, Tone> = { high: 'bad', moderate: 'warn', low: 'quiet' };

/** `against`: strong is bad. `for`: strong is only strong. */
export function StrengthBadge({ strength, speaks }: { strength: string | null | undefined; speaks: 'for' | 'against' }) {
  const { t } = useLanguage();
  const words = useWords();
  if (strength == null) return <span className="quiet">{t(evidence.strengthUnknown)}</span>;
  const tone = speaks === 'against' ? (STRENGTH_TONES[strength] ?? 'quiet') : 'quiet';
  return <Badge tone={tone}>{words.strength(strength)}</Badge>;
}

/** `capped`: it would be critical if somebody had verified the way there. */
export function CriticalBadge({ critical, capped }: { critical: boolean | undefined; capped?: boolean | undefined }) {
  const { t } = useLanguage();
  if (!critical && !capped) return null;
  const [word, hint, tone]: [string, string, Tone] = critical ? [t(evidence.critical), t(evidence.criticalHint), 'bad'] : [t(evidence.capped), t(evidence.cappedHint), 'warn'];
  return (
    <span title={hint}>
      {' '}
      <Badge tone={tone}>{word}</Badge>
    </span>
  );
}

/** Only what somebody checked looks checked. */
export function CheckBadge({ isVerified, hint }: { isVerified: boolean | undefined; hint?: string }) {
  const { t } = useLanguage();
  if (isVerified === true) return <Badge tone="ok">{t(evidence.verified)}</Badge>;
  if (isVerified === false) {
    return (
      <span title={hint ?? t(evidence.unverifiedHint)}>
        <Badge tone="warn">{t(evidence.unverified)}</Badge>
      </span>
    );
  }
  return <span className="quiet">{t(evidence.verifiedUnknown)}</span>;
}

/** `source`: whose word it is. */
export function RetractionBadge({ status, source }: { status: string | null | undefined; source: string | null | undefined }) {
  const { t } = useLanguage();
  const words = useWords();
  if (status !== 'retracted' && status !== 'expression_of_concern') return null;
  return (
    <>
      <Badge tone={status === 'retracted' ? 'bad' : 'warn'}>{words.retraction(status)}</Badge>
      {source != null && <span>{t(evidence.toldBy, { who: source })}</span>}
    </>
  );
}

/** Whose words a text is, where it is not the authors' abstract. */
export function AbstractBadge({ by }: { by: string | null | undefined }) {
  const { t } = useLanguage();
  if (by == null) return null;
  const isOurs = by === 'materia';
  return (
    <span title={t(isOurs ? evidence.ownSummaryHint : evidence.summaryByHint)}>
      <Badge tone="quiet">{isOurs ? t(evidence.ownSummary) : t(evidence.summaryBy, { who: by })}</Badge>
    </span>
  );
}
