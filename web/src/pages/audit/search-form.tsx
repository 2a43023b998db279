// The form above the events. What is searched for stands in the address, so that it can be kept and shared.

import { type FormEvent, useId, useState } from 'react';
import { useTools } from '../../api/session.tsx';
import { useLanguage } from '../../i18n/language.tsx';
import { audit } from '../../i18n/messages/audit.ts';
import { Button } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { navigate } from '../../router/router.tsx';
import { pathOf } from '../../router/routes.ts';
import { SEARCH_FIELD } from '../../shell/shortcuts.tsx';
import { type Filters, formatFilters, isId, NO_FILTERS, OUTCOMES, PERIODS } from './filters.ts';

/** Mount it anew when the address changes: the form shows what was searched for. */
export function SearchForm({ filters, onSame }: { filters: Filters; onSame: () => void }) {
  const { t } = useLanguage();
  const tools = useTools();
  const operations = useId();
  const [draft, setDraft] = useState(filters);
  const [problem, setProblem] = useState<string>();
  const set = (name: keyof Filters) => (event: { target: { value: string } }) =>
    setDraft({ ...draft, [name]: event.target.value });

  const go = (next: Filters) => {
    const to = pathOf({ page: 'audit' }) + formatFilters(next);
    if (to === location.pathname + location.search) onSame();
    else navigate(to);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (draft.id.trim() !== '' && !isId(draft.id.trim())) return setProblem(t(audit.anyIdWrong));
    setProblem(undefined);
    go(draft);
  };
  const periods = {
    any: audit.periodAny,
    hour: audit.periodHour,
    day: audit.periodDay,
    week: audit.periodWeek,
    between: audit.periodBetween,
  };
  return (
    <form className="search-form" role="search" aria-label={t(audit.filters)} onSubmit={submit}>
      <div className="search-id">
        <TextField
          label={t(audit.anyId)}
          hint={t(audit.anyIdHint)}
          error={problem}
          value={draft.id}
          onChange={set('id')}
          maxLength={64}
          {...SEARCH_FIELD}
        />
      </div>
      <TextField label={t(audit.actor)} value={draft.actor_id} onChange={set('actor_id')} maxLength={128} />
      <TextField
        label={t(audit.operation)}
        value={draft.operation}
        onChange={set('operation')}
        maxLength={40}
        list={operations}
      />
      <datalist id={operations}>
        {tools.map((tool) => (
          <option key={tool.name} value={tool.name} />
        ))}
      </datalist>
      <SelectField
        label={t(audit.outcome)}
        value={draft.outcome}
        onChange={set('outcome')}
        options={[
          { value: '', label: t(audit.anyOutcome) },
          ...OUTCOMES.map((value) => ({ value, label: t(audit.outcomes[value]) })),
        ]}
      />
      <SelectField
        label={t(audit.period)}
        value={draft.period}
        onChange={set('period')}
        options={PERIODS.map((value) => ({ value, label: t(periods[value]) }))}
      />
      {draft.period === 'between' && (
        <div className="search-times">
          <TextField label={t(audit.from)} type="datetime-local" value={draft.from} onChange={set('from')} />
          <TextField label={t(audit.to)} type="datetime-local" value={draft.to} onChange={set('to')} />
        </div>
      )}
      <div className="search-actions">
        <Button look="primary" type="submit" icon="search">
          {t(audit.search)}
        </Button>
        <Button
          look="quiet"
          onClick={() => {
            setDraft(NO_FILTERS);
            setProblem(undefined);
            go(NO_FILTERS);
          }}
        >
          {t(audit.clear)}
        </Button>
      </div>
    </form>
  );
}
