// The form above the board. What is asked for stands in the address, so that it can be kept and shared.

import { type FormEvent, useState } from 'react';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { documents } from '../../i18n/messages/documents.ts';
import { tasks as words } from '../../i18n/messages/tasks.ts';
import { Button } from '../../parts/button.tsx';
import { CheckField, TextField } from '../../parts/field.tsx';
import { navigate } from '../../router/router.tsx';
import { pathOf } from '../../router/routes.ts';
import { isProjectId } from '../documents/place.ts';
import { formatTaskFilters, type TaskFilters } from './tasks.ts';

/** Mount it anew when the address changes: the form shows what was asked for. */
export function TaskFilterForm({ filters, onSame }: { filters: TaskFilters; onSame: () => void }) {
  const { t } = useLanguage();
  const [project, setProject] = useState(filters.project_id ?? '');
  const [dependsOn, setDependsOn] = useState(filters.depends_on);
  const [isMissing, setIsMissing] = useState(filters.missing_mandatory_inputs);
  const [problem, setProblem] = useState<string>();
  const go = (search: string) => {
    const to = pathOf({ page: 'tasks' }) + search;
    if (to === location.pathname + location.search) onSame();
    else navigate(to);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (project.trim() !== '' && !isProjectId(project.trim())) return setProblem(t(documents.projectWrong));
    setProblem(undefined);
    go(formatTaskFilters({ project_id: project.trim(), depends_on: dependsOn.trim(), missing_mandatory_inputs: isMissing }));
  };
  return (
    <form className="filter-form" role="search" aria-label={t(words.filters)} onSubmit={submit}>
      <TextField
        label={t(words.dependsOn)}
        hint={<Text of={words.dependsOnHint} />}
        value={dependsOn}
        onChange={({ target }) => setDependsOn(target.value)}
        maxLength={64}
      />
      <TextField
        label={t(words.project)}
        hint={t(words.projectHint)}
        error={problem}
        value={project}
        onChange={({ target }) => setProject(target.value)}
        maxLength={100}
      />
      <div className="filter-rest">
        <CheckField label={t(words.missingMandatory)} checked={isMissing} onChange={({ target }) => setIsMissing(target.checked)} />
        <div className="row">
          <Button type="submit" icon="search">
            {t(words.apply)}
          </Button>
          <Button
            look="quiet"
            onClick={() => {
              setProject('');
              setDependsOn('');
              setIsMissing(false);
              setProblem(undefined);
              go('');
            }}
          >
            {t(words.clear)}
          </Button>
        </div>
      </div>
    </form>
  );
}
