// A field for several words: typed or completed, shown as chips that can be taken out again.

import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import { useLanguage } from '../i18n/language.tsx';
import { parts } from '../i18n/messages/parts.ts';
import { Button } from './button.tsx';
import type { Option } from './field.tsx';
import { Icon } from './icon.tsx';

interface PicksProps {
  label: string;
  hint?: ReactNode;
  words: readonly string[];
  /** What can be chosen; other words may be typed all the same. */
  offers: readonly Option[];
  onChange: (words: string[]) => void;
}

export function PicksField({ label, hint, words, offers, onChange }: PicksProps) {
  const { t } = useLanguage();
  const id = useId();
  const [draft, setDraft] = useState('');
  const labelOf = (word: string) => offers.find(({ value }) => value === word)?.label ?? word;
  const add = () => {
    const typed = draft.trim();
    if (typed === '') return;
    const word = offers.find(({ value, label: name }) => value === typed || name === typed)?.value ?? typed;
    if (!words.includes(word)) onChange([...words, word]);
    setDraft('');
  };
  const press = (event: KeyboardEvent) => {
    // The form around this is not sent by a word that is not yet picked.
    if (event.key !== 'Enter' || draft.trim() === '') return;
    event.preventDefault();
    add();
  };
  return (
    <div className="field picks">
      <label htmlFor={id}>{label}</label>
      <div className="picks-row">
        <input
          id={id}
          type="text"
          autoComplete="off"
          spellCheck={false}
          className="control"
          list={`${id}-offers`}
          value={draft}
          maxLength={100}
          aria-describedby={hint ? `${id}-hint` : undefined}
          onChange={({ target }) => setDraft(target.value)}
          onKeyDown={press}
        />
        <Button onClick={add} aria-label={`${t(parts.add)}: ${label}`}>
          {t(parts.add)}
        </Button>
      </div>
      <datalist id={`${id}-offers`}>
        {offers
          .filter(({ value }) => !words.includes(value))
          .map((offer) => (
            <option key={offer.value} value={offer.value} label={offer.label} />
          ))}
      </datalist>
      {hint && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {words.length > 0 && (
        <ul className="chips">
          {words.map((word) => (
            <li key={word}>
              <button
                type="button"
                className="chip"
                aria-label={t(parts.remove, { word: labelOf(word) })}
                onClick={() => onChange(words.filter((one) => one !== word))}
              >
                <span>{labelOf(word)}</span>
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
