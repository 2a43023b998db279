// The language of the page: from the person's choice, else from the browser. Kept in this browser only.

import { createContext, Fragment, type ReactNode, use, useCallback, useLayoutEffect, useMemo, useState } from 'react';
import { isOneOf, readSetting, writeSetting } from '../shell/kept.ts';
import { type Counted, cut, fill, LANGUAGES, type Language, type Message, type Values } from './message.ts';

export interface Translator {
  language: Language;
  setLanguage: (language: Language) => void;
  /** One message as plain text. */
  t: <M extends Message>(message: M, ...values: Values<M, string | number>) => string;
  /** A message that depends on a number; its place is `{count}`. */
  tn: (message: Counted, count: number) => string;
  number: (value: number) => string;
}

const Context = createContext<Translator | null>(null);

function preferred(): Language {
  const kept = readSetting('language');
  if (isOneOf(LANGUAGES, kept)) return kept;
  return navigator.languages.some((tag) => tag.toLowerCase().startsWith('th')) ? 'th' : 'en';
}

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setState] = useState(preferred);
  useLayoutEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const setLanguage = useCallback((next: Language) => {
    writeSetting('language', next);
    setState(next);
  }, []);
  const translator = useMemo((): Translator => {
    const numbers = new Intl.NumberFormat(language === 'th' ? 'th-TH-u-nu-latn' : 'en');
    const plurals = new Intl.PluralRules(language);
    const number = (value: number) => numbers.format(value);
    return {
      language,
      setLanguage,
      number,
      t: (message, ...values) => fill(message[language], (values[0] ?? {}) as Record<string, string | number>),
      tn: (message, count) => {
        const form = plurals.select(count) === 'one' ? message.one : message.other;
        return fill(form[language], { count: number(count) });
      },
    };
  }, [language, setLanguage]);
  return <Context value={translator}>{children}</Context>;
}

export function useLanguage(): Translator {
  const translator = use(Context);
  if (translator === null) throw new Error('no LanguageProvider above');
  return translator;
}

/** A message with elements in its places and `code` in its backticks. */
export function Text<M extends Message>({ of, values }: { of: M; values?: Record<string, ReactNode> }) {
  const { language } = useLanguage();
  return cut(of[language]).map((piece, at) => {
    if (piece.kind === 'code') return <code key={at}>{piece.text}</code>;
    return <Fragment key={at}>{piece.kind === 'place' ? values?.[piece.name] : piece.text}</Fragment>;
  });
}
