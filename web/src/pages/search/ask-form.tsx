// The form of the search page. What is typed stays in this page: a question may be about a patient.

import { type FormEvent, useState } from 'react';
import { type Sources } from '../../evidence/sources.ts';
import { COMMON_KINDS, useWords } from '../../evidence/words.ts';
import { useLanguage } from '../../i18n/language.tsx';
import { evidence } from '../../i18n/messages/evidence.ts';
import { search as words } from '../../i18n/messages/search.ts';
import { Button } from '../../parts/button.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { PicksField } from '../../parts/picks.tsx';
import { SEARCH_FIELD } from '../../shell/shortcuts.tsx';
import { type Asked, nFilters, NOTHING_ASKED, type Wrong, wrongOf } from './asked.ts';

interface Props {
  asked: Asked;
  sources: Sources;
  onAsk: (asked: Asked) => void;
  onClear: () => void;
}

export function AskForm({ asked, sources, onAsk, onClear }: Props) {
  const { t, tn } = useLanguage();
  const [draft, setDraft] = useState(asked);
  const [wrong, setWrong] = useState<Wrong>({});
  const set = <K extends keyof Asked>(name: K, value: Asked[K]) => setDraft({ ...draft, [name]: value });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = wrongOf(draft);
    setWrong(found);
    if (Object.keys(found).length === 0) onAsk(draft);
  };
  const n_filters = nFilters(draft);
  return (
    <form className="search-form ask-form" role="search" aria-label={t(words.form)} onSubmit={submit} noValidate>
      <div className="ask-query">
        <TextField
          label={t(words.query)}
          hint={t(words.queryHint)}
          error={wrong.query ? t(words.queryEmpty) : undefined}
          value={draft.query}
          onChange={({ target }) => set('query', target.value)}
          maxLength={2_000}
          {...SEARCH_FIELD}
        />
      </div>
      <SelectField
        label={t(words.language)}
        value={draft.lang}
        onChange={({ target }) => set('lang', target.value as Asked['lang'])}
        options={[
          { value: 'auto', label: t(words.languageAuto) },
          { value: 'th', label: t(evidence.languages.th) },
          { value: 'en', label: t(evidence.languages.en) },
        ]}
      />
      <TextField
        label={t(words.topK)}
        error={wrong.top_k ? t(words.topKWrong) : undefined}
        type="number"
        min={1}
        max={100}
        value={draft.top_k}
        onChange={({ target }) => set('top_k', target.value)}
      />
      <details className="ask-filters">
        <summary>
          {t(words.filters)} {n_filters > 0 && <span className="quiet">({tn(words.filtersSet, n_filters)})</span>}
        </summary>
        <Filters draft={draft} wrong={wrong} sources={sources} set={set} />
      </details>
      <div className="search-actions">
        {/* Not busy while a search is under way: whoever asks the next question waits for no answer to the last one. */}
        <Button look="primary" type="submit" icon="search">
          {t(words.search)}
        </Button>
        <Button
          look="quiet"
          onClick={() => {
            setDraft(NOTHING_ASKED);
            setWrong({});
            onClear();
          }}
        >
          {t(words.clear)}
        </Button>
      </div>
    </form>
  );
}

interface FiltersProps {
  draft: Asked;
  wrong: Wrong;
  sources: Sources;
  set: <K extends keyof Asked>(name: K, value: Asked[K]) => void;
}

function Filters({ draft, wrong, sources, set }: FiltersProps) {
  const { t } = useLanguage();
  const { kind } = useWords();
  const kinds = COMMON_KINDS.map((value) => ({ value, label: kind(value) }));
  const yearToWrong = wrong.year_to ? words.yearWrong : wrong.year_order ? words.yearOrder : undefined;
  return (
    <div className="ask-filter-grid">
      <PicksField label={t(words.types)} hint={t(words.anyHint)} words={draft.types} offers={kinds} onChange={(value) => set('types', value)} />
      <PicksField
        label={t(words.sources)}
        hint={t(words.anyHint)}
        words={draft.sources}
        offers={Array.from(sources.values(), ({ id, title }) => ({ value: id, label: title }))}
        onChange={(value) => set('sources', value)}
      />
      <PicksField
        label={t(words.categories)}
        hint={t(words.anyHint)}
        words={draft.categories}
        offers={kinds}
        onChange={(value) => set('categories', value)}
      />
      <SelectField
        label={t(words.textLanguage)}
        value={draft.text_lang}
        onChange={({ target }) => set('text_lang', target.value as Asked['text_lang'])}
        options={[
          { value: '', label: t(words.anyLanguage) },
          { value: 'th', label: t(evidence.languages.th) },
          { value: 'en', label: t(evidence.languages.en) },
        ]}
      />
      <TextField
        label={t(words.yearFrom)}
        hint={t(words.yearHint)}
        error={wrong.year_from ? t(words.yearWrong) : undefined}
        inputMode="numeric"
        maxLength={4}
        value={draft.year_from}
        onChange={({ target }) => set('year_from', target.value)}
      />
      <TextField
        label={t(words.yearTo)}
        error={yearToWrong && t(yearToWrong)}
        inputMode="numeric"
        maxLength={4}
        value={draft.year_to}
        onChange={({ target }) => set('year_to', target.value)}
      />
      <div className="ask-wide">
        <CheckField
          label={t(words.withoutRetracted)}
          checked={draft.without_retracted}
          onChange={({ target }) => set('without_retracted', target.checked)}
        />
      </div>
    </div>
  );
}
