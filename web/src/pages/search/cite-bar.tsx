// Takes the chosen documents along as citations.

import { useState } from 'react';
import type { CallError, Input } from '../../api/client.ts';
import { asCallError } from '../../api/query.ts';
import { useClient, useIsServed } from '../../api/session.tsx';
import { useLanguage } from '../../i18n/language.tsx';
import { search as words } from '../../i18n/messages/search.ts';
import { Button } from '../../parts/button.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { ErrorState } from '../../parts/states.tsx';
import { useToast } from '../../parts/toast.tsx';

type Format = Extract<Input<'export_records'>['format'], keyof typeof words.formats>;

const FILES: Record<Format, string> = { bibtex: 'citations.bib', ris: 'citations.ris', csl_json: 'citations.json' };

export function CiteBar({ ids, all, onChange }: { ids: string[]; all: string[]; onChange: (ids: string[]) => void }) {
  const { t, tn } = useLanguage();
  const client = useClient();
  const toast = useToast();
  const isServed = useIsServed('export_records');
  const [busy, setBusy] = useState<Format>();
  const [error, setError] = useState<CallError>();
  const save = async (format: Format) => {
    setBusy(format);
    setError(undefined);
    try {
      const { content, media_type, n_records } = await client.call('export_records', { format, ids });
      saveFile(FILES[format], [content], media_type);
      toast('ok', tn(words.exported, n_records));
    } catch (thrown) {
      setError(asCallError(thrown));
    } finally {
      setBusy(undefined);
    }
  };
  if (!isServed || all.length === 0) return null;
  return (
    <section className="cite-bar" aria-label={t(words.exportAs)}>
      <p aria-live="polite">{tn(words.selected, ids.length)}</p>
      <div className="row">
        {ids.length < all.length && (
          <Button look="quiet" onClick={() => onChange(all)}>
            {t(words.selectAll)}
          </Button>
        )}
        {ids.length > 0 && (
          <>
            <Button look="quiet" onClick={() => onChange([])}>
              {t(words.selectNone)}
            </Button>
            {(Object.keys(FILES) as Format[]).map((format) => (
              <Button key={format} icon="download" isBusy={busy === format} onClick={() => void save(format)}>
                {t(words.formats[format])}
              </Button>
            ))}
          </>
        )}
      </div>
      {error && <ErrorState error={error} />}
    </section>
  );
}
