// Whether somebody checked a statement and the way it came here, in a badge and, where that differs, in a sentence.

import { useLanguage } from '../i18n/language.tsx';
import { evidence } from '../i18n/messages/evidence.ts';
import { CheckBadge } from './badges.tsx';
import type { Check, SameAs } from './standing.ts';

export function CheckLine({ check: { isVerified, isWayDoubted } }: { check: Check }) {
  const { t } = useLanguage();
  if (!isWayDoubted) return <CheckBadge isVerified={isVerified} />;
  return (
    <span className="checked">
      <CheckBadge isVerified={isVerified} hint={t(evidence.wayUnverified)} />
      <span>{t(evidence.wayUnverified)}</span>
    </span>
  );
}

/** That it is recorded of another node, and whose word it is that both are one thing. */
export function SaidSame({ same, name = same?.id }: { same: SameAs | null | undefined; name?: string | undefined }) {
  const { t } = useLanguage();
  if (same == null) return null;
  const values = { name: name ?? same.id, who: same.source };
  return <span className="below quiet">{t(same.verified ? evidence.saidSame : evidence.saidSameUnverified, values)}</span>;
}
