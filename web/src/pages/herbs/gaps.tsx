// What the list of warnings does not tell: ingredients that nothing is known of, and what the answers leave out.

import { AnswerNote } from '../../evidence/answer-note.tsx';
import { nameIn } from '../../evidence/record.ts';
import { useLanguage } from '../../i18n/language.tsx';
import { herbs as words } from '../../i18n/messages/herbs.ts';
import { Notice } from '../../parts/page.tsx';
import type { HerbPicture } from './herbs.ts';

export function Gaps({ picture }: { picture: HerbPicture }) {
  const { t, language } = useLanguage();
  const { notCovered, noRecord, notes, against, names } = picture;
  const nameOf = (id: string) => nameIn(language, names.get(id) ?? [], id);
  // Where there is no warning at all, the empty list says so.
  const alsoNoRecord = against.length > 0 ? noRecord : [];
  if (notCovered.length + alsoNoRecord.length + notes.length === 0) return null;
  return (
    <div className="gaps">
      {notCovered.length > 0 && (
        <Notice tone="warn" title={t(words.notCovered)}>
          <ul className="not-covered" aria-label={t(words.notCovered)}>
            {notCovered.map(({ entity_id, ingredient }) => (
              <li key={`${entity_id} ${ingredient}`}>{nameOf(ingredient)}</li>
            ))}
          </ul>
        </Notice>
      )}
      {alsoNoRecord.length > 0 && (
        <Notice tone="warn">
          <p>{t(words.noRecord, { names: alsoNoRecord.map(nameOf).join(', ') })}</p>
        </Notice>
      )}
      {notes.map((note) => (
        <AnswerNote key={note} note={note} />
      ))}
    </div>
  );
}
