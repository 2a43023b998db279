// The page for addresses that nothing answers to.

import { Text, useLanguage } from '../i18n/language.tsx';
import { shell } from '../i18n/messages/shell.ts';
import { LinkButton } from '../parts/button.tsx';
import { PageHead } from '../parts/page.tsx';

export function NotFound({ path }: { path: string }) {
  const { t } = useLanguage();
  return (
    <>
      <PageHead
        title={t(shell.notFoundTitle)}
        lead={<Text of={shell.notFoundBody} values={{ path: <code>{path}</code> }} />}
      />
      <LinkButton to="/" look="primary" icon="home">
        {t(shell.toHome)}
      </LinkButton>
    </>
  );
}
