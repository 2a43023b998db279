// The field for a path pattern: a combobox that completes types and predicates.

import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { complete, type Offer, type Vocabulary } from '../../graph/pattern.ts';
import { useLanguage } from '../../i18n/language.tsx';
import { graph as words } from '../../i18n/messages/graph.ts';
import { Field } from '../../parts/field.tsx';

interface Props {
  label: string;
  hint: ReactNode;
  error: string | undefined;
  value: string;
  vocabulary: Vocabulary;
  onChange: (value: string) => void;
  onFocus: () => void;
}

export function PatternField({ label, hint, error, value, vocabulary, onChange, onFocus }: Props) {
  const { t } = useLanguage();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState(0);
  const [isOpen, setIsOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const offers = isOpen ? complete(value, caret, vocabulary) : [];
  const follow = () => setCaret(input.current?.selectionStart ?? value.length);
  const take = (offer: Offer) => {
    // At once: the next letter must find the new text, with the caret in its place.
    flushSync(() => {
      onChange(offer.text);
      setCaret(offer.caret);
      setChosen(-1);
    });
    input.current?.focus();
    input.current?.setSelectionRange(offer.caret, offer.caret);
  };
  const onKey = (event: KeyboardEvent) => {
    const offer = offers[chosen];
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setIsOpen(true);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      if (offers.length > 0) setChosen((chosen + step + offers.length + (chosen < 0 && step < 0 ? 1 : 0)) % offers.length);
    } else if ((event.key === 'Enter' || event.key === 'Tab') && offer) {
      event.preventDefault();
      take(offer);
    } else if (event.key === 'Escape' && isOpen) {
      event.preventDefault();
      setIsOpen(false);
      setChosen(-1);
    }
  };
  return (
    <Field label={label} hint={hint} error={error}>
      {(wiring) => (
        <div className="pattern-input">
          <input
            ref={input}
            {...wiring}
            className="control mono"
            type="text"
            role="combobox"
            autoComplete="off"
            spellCheck={false}
            maxLength={2_000}
            value={value}
            aria-autocomplete="list"
            aria-expanded={offers.length > 0}
            aria-controls={`${id}-offers`}
            aria-activedescendant={chosen >= 0 && chosen < offers.length ? `${id}-offer-${chosen}` : undefined}
            onChange={({ target }) => {
              onChange(target.value);
              setCaret(target.selectionStart ?? target.value.length);
              setIsOpen(true);
              setChosen(-1);
            }}
            onKeyDown={onKey}
            onKeyUp={follow}
            onClick={follow}
            onFocus={() => {
              onFocus();
              follow();
              setIsOpen(true);
            }}
            onBlur={() => setIsOpen(false)}
          />
          <ul id={`${id}-offers`} role="listbox" aria-label={t(words.offers)} className="offers" hidden={offers.length === 0}>
            {offers.map((offer, at) => (
              <li
                key={offer.label}
                id={`${id}-offer-${at}`}
                role="option"
                aria-selected={at === chosen}
                // The field keeps the focus.
                onMouseDown={(event) => {
                  event.preventDefault();
                  take(offer);
                }}
              >
                {offer.label}
              </li>
            ))}
          </ul>
        </div>
      )}
    </Field>
  );
}
