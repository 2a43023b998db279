// The two switches for how the page looks and speaks.

import { useLanguage } from '../i18n/language.tsx';
import { isOneOf } from './kept.ts';
import { LANGUAGES } from '../i18n/message.ts';
import { shell } from '../i18n/messages/shell.ts';
import { Segments } from '../parts/field.tsx';
import { setTheme, THEMES, useTheme } from './theme.ts';

/** Names of languages stand in their own language. */
const LANGUAGE_NAMES = { en: 'English', th: 'ไทย' };

/** `place` keeps the names of the radio groups apart when the switches stand twice on a page. */
export function LanguageSwitch({ place }: { place: string }) {
  const { t, language, setLanguage } = useLanguage();
  return (
    <Segments
      label={t(shell.language)}
      name={`language-${place}`}
      value={language}
      options={LANGUAGES.map((value) => ({ value, label: LANGUAGE_NAMES[value] }))}
      onChange={(value) => isOneOf(LANGUAGES, value) && setLanguage(value)}
    />
  );
}

export function ThemeSwitch({ place }: { place: string }) {
  const { t } = useLanguage();
  const theme = useTheme();
  const words = { system: t(shell.themeSystem), light: t(shell.themeLight), dark: t(shell.themeDark) };
  return (
    <Segments
      label={t(shell.theme)}
      name={`theme-${place}`}
      value={theme}
      options={THEMES.map((value) => ({ value, label: words[value] }))}
      onChange={(value) => isOneOf(THEMES, value) && setTheme(value)}
    />
  );
}
