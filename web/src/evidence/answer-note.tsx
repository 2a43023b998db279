// The note of an answer, to be seen.

import { useLanguage } from '../i18n/language.tsx';
import { evidence } from '../i18n/messages/evidence.ts';
import { Notice } from '../parts/page.tsx';

export function AnswerNote({ note }: { note: string | undefined }) {
  const { t } = useLanguage();
  if (note === undefined) return null;
  return (
    <Notice tone="warn" title={t(evidence.note)}>
      <p className="said">
        <ServerWords text={note} />
      </p>
    </Notice>
  );
}

/** Words of the server, which are English, with code in their backticks. */
export function ServerWords({ text }: { text: string }) {
  const pieces = text.split(/`([^`]+)`/);
  return <bdi lang="en">{pieces.map((piece, at) => (at % 2 === 1 ? <code key={at}>{piece}</code> : piece))}</bdi>;
}
