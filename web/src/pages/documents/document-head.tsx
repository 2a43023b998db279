// The head of the pages of one document.

import type { ReactNode } from 'react';
import { useIsServed } from '../../api/session.tsx';
import { useLanguage } from '../../i18n/language.tsx';
import { documents as words } from '../../i18n/messages/documents.ts';
import { PageHead } from '../../parts/page.tsx';
import { PageTabs } from '../../parts/tabs.tsx';
import { Link } from '../../router/router.tsx';
import { pathOf, pathOfDocument } from '../../router/routes.ts';
import type { Place } from './place.ts';

interface HeadProps {
  id: string;
  title?: string;
  place: Place;
  lead?: ReactNode;
  actions?: ReactNode;
}

export function DocumentHead({ id, title, place, lead, actions }: HeadProps) {
  const { t } = useLanguage();
  const hasChanges = useIsServed('diff_artifact');
  const name = title === undefined || title.includes(id) ? (title ?? id) : `${id}: ${title}`;
  const board = pathOf({ page: 'documents' }) + (place.project_id ? `?${new URLSearchParams({ project: place.project_id })}` : '');
  return (
    <>
      <p className="breadcrumb">
        <Link to={board}>{t(words.backToBoard)}</Link>
      </p>
      <PageHead title={name} lead={lead} actions={actions} />
      {hasChanges && (
        <PageTabs
          label={t(words.views)}
          tabs={[
            { to: pathOfDocument({ id, ...place }), label: t(words.viewText) },
            { to: pathOfDocument({ id, project_id: place.project_id }, 'changes'), label: t(words.viewChanges) },
          ]}
        />
      )}
    </>
  );
}
