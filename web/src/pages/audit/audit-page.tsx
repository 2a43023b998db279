// The audit pages under one head: events, integrity, a proof brought along.

import { useState } from 'react';
import { useIsServed } from '../../api/session.tsx';
import { useLanguage } from '../../i18n/language.tsx';
import { audit } from '../../i18n/messages/audit.ts';
import { Button } from '../../parts/button.tsx';
import { PageHead } from '../../parts/page.tsx';
import { WhenServed } from '../../parts/states.tsx';
import { PageTabs } from '../../parts/tabs.tsx';
import { pathOf } from '../../router/routes.ts';
import { EventsView } from './events-view.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { IntegrityView } from './integrity-view.tsx';
import { ProofForm } from './proof-form.tsx';

export function AuditPage({ page }: { page: 'audit' | 'integrity' | 'proof' }) {
  const { t } = useLanguage();
  const canExport = useIsServed('audit_export');
  const [isExporting, setIsExporting] = useState(false);
  return (
    <>
      <PageHead
        title={t(audit.title)}
        lead={t(audit.lead)}
        actions={
          canExport && (
            <Button icon="download" onClick={() => setIsExporting(true)}>
              {t(audit.export)}
            </Button>
          )
        }
      />
      <PageTabs
        label={t(audit.sections)}
        tabs={[
          { to: pathOf({ page: 'audit' }), label: t(audit.events) },
          { to: pathOf({ page: 'integrity' }), label: t(audit.integrity) },
          { to: pathOf({ page: 'proof' }), label: t(audit.checkProof) },
        ]}
      />
      {page === 'audit' && (
        <WhenServed operation="audit_search">
          <EventsView />
        </WhenServed>
      )}
      {page === 'integrity' && <IntegrityView />}
      {page === 'proof' && <ProofForm />}
      {isExporting && <ExportDialog onClose={() => setIsExporting(false)} />}
    </>
  );
}
