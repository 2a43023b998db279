// Checks a proof that somebody handed over. Nothing leaves the browser.

import { type FormEvent, useState } from 'react';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { proof as words } from '../../i18n/messages/proof.ts';
import { Button } from '../../parts/button.tsx';
import { TextAreaField, TextField } from '../../parts/field.tsx';
import { Section } from '../../parts/page.tsx';
import { readTrustedKey } from '../../proof/memory.ts';
import { canVerify, type Report, verifyClaim } from '../../proof/proof.ts';
import { CannotVerify, ProofReport } from './proof-report.tsx';

/** Copying adds or loses a newline at the end; the leaf has none, a note has one. */
export function asPasted(event: string, proof: string): { eventJson: string; proof: string } {
  return { eventJson: event.trim(), proof: `${proof.replaceAll('\r\n', '\n').trim()}\n` };
}

export function ProofForm() {
  const { t } = useLanguage();
  const [trusted] = useState(() => readTrustedKey() ?? '');
  const [event, setEvent] = useState('');
  const [proof, setProof] = useState('');
  const [key, setKey] = useState(trusted);
  const [wasTried, setWasTried] = useState(false);
  const [report, setReport] = useState<Report>();

  const submit = async (submitted: FormEvent) => {
    submitted.preventDefault();
    setWasTried(true);
    setReport(undefined);
    if ([event, proof, key].some((text) => text.trim() === '')) return;
    setReport(await verifyClaim({ ...asPasted(event, proof), logKey: key.trim(), trustedKey: trusted || undefined }));
  };
  const missing = (text: string) => (wasTried && text.trim() === '' ? t(words.pasteMissing) : undefined);

  if (!canVerify()) return <CannotVerify />;
  return (
    <Section title={t(words.pasteTitle)} lead={t(words.pasteLead)}>
      <div className="two-columns is-waiting">
        <form className="card stack" onSubmit={submit} noValidate>
          <TextAreaField
            label={t(words.pasteEvent)}
            error={missing(event)}
            value={event}
            onChange={({ target }) => setEvent(target.value)}
            rows={5}
          />
          <TextAreaField
            label={t(words.pasteProof)}
            hint={<Text of={words.pasteProofHint} />}
            error={missing(proof)}
            value={proof}
            onChange={({ target }) => setProof(target.value)}
            rows={9}
          />
          <TextField
            label={t(words.keyField)}
            hint={<Text of={words.keyFieldHint} />}
            error={missing(key)}
            value={key}
            onChange={({ target }) => setKey(target.value)}
          />
          <div>
            <Button look="primary" type="submit" icon="shield">
              {t(words.pasteCheck)}
            </Button>
          </div>
        </form>
        {report && (
          <div className="card">
            <ProofReport report={report} of="pasted" />
          </div>
        )}
      </div>
    </Section>
  );
}
