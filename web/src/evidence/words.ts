// The record's words in the language of the reader: types, predicates, strengths. What is not known stays as it is.

import { useLanguage } from '../i18n/language.tsx';
import type { Message } from '../i18n/message.ts';
import { evidence } from '../i18n/messages/evidence.ts';

function find(messages: Readonly<Record<string, Message>>, word: string): Message | undefined {
  return Object.hasOwn(messages, word) ? messages[word] : undefined;
}

export function useWords() {
  const { language } = useLanguage();
  const say = (messages: Readonly<Record<string, Message>>) => (word: string) =>
    find(messages, word)?.[language] ?? word.replaceAll('_', ' ');
  return {
    kind: say(evidence.kinds),
    predicate: say(evidence.predicates),
    strength: say(evidence.strengths),
    languageName: say(evidence.languages),
    retraction: say(evidence.retractions),
  };
}

/** Types that most records use, for completion before any record was read. */
export const COMMON_KINDS = Object.keys(evidence.kinds);
export const COMMON_PREDICATES = Object.keys(evidence.predicates);
