// Shown whenever the server asks who it is. The page behind it stays where it was.

import { type FormEvent, useState } from 'react';
import { asCallError } from '../api/query.ts';
import { type SignInCause, useSession } from '../api/session.tsx';
import type { CallError } from '../api/client.ts';
import { Text, useLanguage } from '../i18n/language.tsx';
import { shell } from '../i18n/messages/shell.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { Notice, PageHead } from '../parts/page.tsx';
import { ErrorState } from '../parts/states.tsx';

export function SignIn({ cause }: { cause: SignInCause }) {
  const { t } = useLanguage();
  return (
    <div className="sign-in">
      <PageHead title={t(shell.signInTitle)} lead={t(shell.signInLead)} />
      {cause === 'start_url_unknown' && (
        <Notice tone="bad">
          <p>{t(shell.startUrlUnknown)}</p>
        </Notice>
      )}
      {cause === 'session_ended' && (
        <Notice tone="info">
          <p>{t(shell.sessionEnded)}</p>
        </Notice>
      )}
      <section className="card">
        <h2>{t(shell.signInStartUrl)}</h2>
        <p>
          <Text of={shell.signInStartUrlBody} />
        </p>
      </section>
      <section className="card">
        <h2>{t(shell.signInPaste)}</h2>
        <p>
          <Text of={shell.signInPasteBody} />
        </p>
        <TokenForm />
      </section>
    </div>
  );
}

function TokenForm() {
  const { t } = useLanguage();
  const { signIn } = useSession();
  const [token, setToken] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [error, setError] = useState<CallError>();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    if (token.trim() === '') return setProblem(t(shell.tokenEmpty));
    setProblem(undefined);
    setIsBusy(true);
    try {
      await signIn(token.trim());
    } catch (thrown) {
      const failed = asCallError(thrown);
      if (failed.status === 401) setProblem(t(shell.tokenUnknown));
      else setError(failed);
    } finally {
      setToken('');
      setIsBusy(false);
    }
  };
  return (
    <form onSubmit={submit} className="stack">
      <TextField
        label={t(shell.token)}
        hint={t(shell.tokenHint)}
        error={problem}
        type="password"
        autoComplete="off"
        value={token}
        onChange={(event) => setToken(event.target.value)}
      />
      <div>
        <Button look="primary" type="submit" isBusy={isBusy}>
          {t(shell.signIn)}
        </Button>
      </div>
      {error && <ErrorState error={error} />}
    </form>
  );
}
