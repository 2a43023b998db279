// The settings: keys, models, servers, and this browser.

import { useLanguage } from '../../i18n/language.tsx';
import { settings } from '../../i18n/messages/settings.ts';
import { PageHead, Section } from '../../parts/page.tsx';
import { EmptyState, WhenServed } from '../../parts/states.tsx';
import { PageTabs } from '../../parts/tabs.tsx';
import { pathOf, SETTINGS_SECTIONS, type SettingsSection } from '../../router/routes.ts';
import { BrowserSection } from './browser-section.tsx';
import { KeysSection } from './keys-section.tsx';
import { ModelsSection } from './models-section.tsx';

export function SettingsPage({ section }: { section: SettingsSection }) {
  const { t } = useLanguage();
  return (
    <>
      <PageHead title={t(settings.title)} lead={t(settings.lead)} />
      <PageTabs
        label={t(settings.sections)}
        tabs={SETTINGS_SECTIONS.map((one) => ({
          to: pathOf({ page: 'settings', section: one }),
          label: t(settings[one]),
        }))}
      />
      {section === 'keys' && (
        <WhenServed operation="list_keys">
          <KeysSection />
        </WhenServed>
      )}
      {section === 'models' && <ModelsSection />}
      {section === 'servers' && (
        <Section title={t(settings.servers)}>
          <EmptyState icon="server" title={t(settings.serversTitle)}>
            <p>{t(settings.serversBody)}</p>
          </EmptyState>
        </Section>
      )}
      {section === 'browser' && <BrowserSection />}
    </>
  );
}
