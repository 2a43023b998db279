// Who says so, and under which terms; and what they point to.

import { useLanguage } from '../i18n/language.tsx';
import { evidence } from '../i18n/messages/evidence.ts';
import { Icon } from '../parts/icon.tsx';
import { addressOf, isWebAddress } from './reference.ts';
import type { Sources } from './sources.ts';

export function SourceLine({ id, sources, licence }: { id: string; sources: Sources; licence?: string | undefined }) {
  const { t } = useLanguage();
  const source = sources.get(id);
  const terms = licence ?? source?.licence;
  const title = source?.title ?? id;
  return (
    <span className="source-line">
      {source?.uri && isWebAddress(source.uri) ? <OutsideLink href={source.uri}>{title}</OutsideLink> : <span>{title}</span>}
      {terms && <span className="licence" title={t(evidence.licence)}>{terms}</span>}
    </span>
  );
}

/** Leaves the page without telling where from. */
export function OutsideLink({ href, children }: { href: string; children: string }) {
  const { t } = useLanguage();
  return (
    <a href={href} target="_blank" rel="noreferrer" className="outside">
      {children} <Icon name="external" />
      <span className="for-readers"> ({t(evidence.newTab)})</span>
    </a>
  );
}

/** A document opens here; an address opens outside; the rest is only named. */
export function Reference({ reference, onRead }: { reference: string; onRead: (id: string) => void }) {
  const { t } = useLanguage();
  if (isWebAddress(reference)) return <OutsideLink href={reference}>{reference}</OutsideLink>;
  const address = addressOf(reference);
  return (
    <span className="reference">
      <button type="button" className="line-link" onClick={() => onRead(reference)} aria-haspopup="dialog" aria-label={t(evidence.readDocument, { document: reference })}>
        {reference}
      </button>
      {address && (
        <a href={address} target="_blank" rel="noreferrer" aria-label={`${reference} (${t(evidence.newTab)})`}>
          <Icon name="external" />
        </a>
      )}
    </span>
  );
}
