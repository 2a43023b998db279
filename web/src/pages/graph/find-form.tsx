// Finds a node by its name in any language; where none or several have it, those that are like it are offered.

import { type FormEvent, useState } from 'react';
import { KindTag } from '../../evidence/badges.tsx';
import { useLanguage } from '../../i18n/language.tsx';
import { graph as words } from '../../i18n/messages/graph.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { SEARCH_FIELD } from '../../shell/shortcuts.tsx';

export interface Candidate {
  id: string;
  title: string;
  kind: string;
}

interface Props {
  isBusy: boolean;
  candidates: Candidate[] | undefined;
  onOpen: (word: string) => void;
}

export function FindForm({ isBusy, candidates, onOpen }: Props) {
  const { t } = useLanguage();
  const [name, setName] = useState('');
  const [isEmpty, setIsEmpty] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setIsEmpty(name.trim() === '');
    if (name.trim() !== '') onOpen(name.trim());
  };
  return (
    <form className="card graph-form" role="search" aria-label={t(words.find)} onSubmit={submit}>
      <h2>{t(words.find)}</h2>
      <div className="inline-form">
        <TextField
          label={t(words.name)}
          hint={t(words.nameHint)}
          error={isEmpty ? t(words.nameEmpty) : undefined}
          value={name}
          onChange={({ target }) => setName(target.value)}
          maxLength={500}
          {...SEARCH_FIELD}
        />
        <Button look="primary" type="submit" icon="search" isBusy={isBusy}>
          {t(words.show)}
        </Button>
      </div>
      <div aria-live="polite">
        {candidates && candidates.length === 0 && <p>{t(words.noCandidates)}</p>}
        {candidates && candidates.length > 0 && (
          <>
            <p>{t(words.candidates)}</p>
            <ul className="candidates">
              {candidates.map(({ id, title, kind }) => (
                <li key={id}>
                  <button type="button" className="line-link" onClick={() => onOpen(id)}>
                    {title}
                  </button>{' '}
                  <KindTag kind={kind} />
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </form>
  );
}
