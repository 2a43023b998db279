// Reads the log page by page and hands it over as a file.

import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { CallError, Client, Input } from '../../api/client.ts';
import { asCallError } from '../../api/query.ts';
import { useClient } from '../../api/session.tsx';
import { useLanguage } from '../../i18n/language.tsx';
import { audit } from '../../i18n/messages/audit.ts';
import { parts } from '../../i18n/messages/parts.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Progress } from '../../parts/progress.tsx';
import { ErrorState } from '../../parts/states.tsx';
import { useToast } from '../../parts/toast.tsx';
import { parseDecimal } from '../../proof/note.ts';
import { saveFile } from '../../parts/save-file.ts';

type Format = Input<'audit_export'>['format'];

const LINES_PER_CALL = 500;

const FILE_ENDINGS: Record<Format, string> = { ndjson: 'ndjson', fhir: 'fhir.ndjson' };

/** All lines from `fromIndex` on. `onRead` is told how many there are so far. */
export async function readExport(
  client: Client,
  { format, fromIndex, signal, onRead }: { format: Format; fromIndex: number; signal: AbortSignal; onRead: (n: number) => void },
): Promise<string[]> {
  const lines: string[] = [];
  let next: number | undefined = fromIndex;
  while (next !== undefined) {
    const input: Input<'audit_export'> = { format, from_index: next, limit: LINES_PER_CALL };
    const page = await client.call('audit_export', input, { signal });
    for (const line of page.lines) lines.push(line);
    onRead(lines.length);
    // An index that does not move on would keep the page here for ever.
    next = page.next_index != null && page.next_index > next ? page.next_index : undefined;
  }
  return lines;
}

export function ExportDialog({ onClose }: { onClose: () => void }) {
  const { t, tn } = useLanguage();
  const toast = useToast();
  const client = useClient();
  const [format, setFormat] = useState<Format>('ndjson');
  const [from, setFrom] = useState('0');
  const [nRead, setNRead] = useState<number>();
  const [error, setError] = useState<CallError>();
  const abort = useRef<AbortController>(null);
  useEffect(() => () => abort.current?.abort(), []);

  const fromIndex = parseDecimal(from.trim());
  const isBusy = nRead !== undefined;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (fromIndex === null || isBusy) return;
    const controller = new AbortController();
    abort.current = controller;
    setError(undefined);
    setNRead(0);
    try {
      const lines = await readExport(client, { format, fromIndex, signal: controller.signal, onRead: setNRead });
      if (lines.length === 0) {
        toast('bad', t(audit.exportNone));
      } else {
        const name = `materia-audit-from-${fromIndex}.${FILE_ENDINGS[format]}`;
        saveFile(name, lines.map((line) => `${line}\n`), 'application/x-ndjson');
        toast('ok', tn(audit.exported, lines.length));
        onClose();
      }
    } catch (thrown) {
      if (!controller.signal.aborted) setError(asCallError(thrown));
    } finally {
      setNRead(undefined);
    }
  };
  return (
    <Dialog title={t(audit.exportTitle)} onClose={onClose}>
      <form className="stack" onSubmit={submit} noValidate>
        <p>{t(audit.exportLead)}</p>
        <SelectField
          label={t(audit.format)}
          value={format}
          onChange={({ target }) => setFormat(target.value as Format)}
          options={[
            { value: 'ndjson', label: t(audit.formatNdjson) },
            { value: 'fhir', label: t(audit.formatFhir) },
          ]}
        />
        <TextField
          label={t(audit.fromIndex)}
          hint={t(audit.fromIndexHint)}
          error={fromIndex === null ? t(audit.fromIndexWrong) : undefined}
          inputMode="numeric"
          value={from}
          onChange={({ target }) => setFrom(target.value)}
        />
        {isBusy && <Progress label={tn(audit.exporting, nRead)} />}
        {error && <ErrorState error={error} />}
        <div className="dialog-foot">
          {isBusy ? (
            <Button onClick={() => abort.current?.abort()}>{t(audit.exportStop)}</Button>
          ) : (
            <Button onClick={onClose}>{t(parts.cancel)}</Button>
          )}
          <Button look="primary" type="submit" icon="download" isBusy={isBusy}>
            {t(audit.exportStart)}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
