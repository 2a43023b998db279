// How this browser shows the pages.

import { useState } from 'react';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { settings } from '../../i18n/messages/settings.ts';
import { CheckField } from '../../parts/field.tsx';
import { Section } from '../../parts/page.tsx';
import { LanguageSwitch, ThemeSwitch } from '../../shell/appearance.tsx';
import { hasShortcuts, setShortcuts } from '../../shell/shortcuts.tsx';

export function BrowserSection() {
  const { t } = useLanguage();
  const [isOn, setIsOn] = useState(hasShortcuts);
  return (
    <Section title={t(settings.browser)} lead={t(settings.browserLead)}>
      <div className="card stack narrow">
        <LanguageSwitch place="settings" />
        <ThemeSwitch place="settings" />
        <CheckField
          label={t(settings.shortcutsOn)}
          hint={<Text of={settings.shortcutsHint} />}
          checked={isOn}
          onChange={({ target }) => {
            setShortcuts(target.checked);
            setIsOn(target.checked);
          }}
        />
      </div>
    </Section>
  );
}
