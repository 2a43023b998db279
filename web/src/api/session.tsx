// Who is at the keyboard: exchanges the token of the start URL, notices 401, knows which operations are served.

import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { readSetting, writeSetting } from '../shell/kept.ts';
import { CallError, Client, type OperationName, type Tool } from './client.ts';

/** Why the sign-in page is shown. */
export type SignInCause = 'none' | 'start_url_unknown' | 'session_ended';

type State =
  | { is: 'checking' }
  | { is: 'signed_out'; cause: SignInCause }
  | { is: 'signed_in'; tools: Tool[] }
  | { is: 'failed'; error: CallError };

export interface SessionValue {
  state: State;
  client: Client;
  /** The name that the server gave when the session was opened. */
  actor: string | null;
  /** Throws a `CallError` when the token is not known. */
  signIn: (token: string) => Promise<void>;
  /** Throws a `CallError` when the server did not end the session; the page then stays signed in. */
  signOut: () => Promise<void>;
  retry: () => void;
}

const Context = createContext<SessionValue | null>(null);

/** Takes the token out of the address, so that it stays neither on the screen nor in the history. */
function takeToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return null;
  history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}

export function SessionProvider({ children }: { children: ReactNode }) {
  const [state, setState] = useState<State>({ is: 'checking' });
  const [actor, setActor] = useState(() => readSetting('actor'));
  const wasSignedIn = useRef(false);

  const client = useMemo(() => {
    const onUnauthenticated = () => {
      const cause = wasSignedIn.current ? 'session_ended' : 'none';
      wasSignedIn.current = false;
      setState((present) => (present.is === 'signed_out' ? present : { is: 'signed_out', cause }));
    };
    return new Client({ onUnauthenticated });
  }, []);

  /** Asks for the list of operations: it tells both whether the session holds and what this server can do. */
  const enter = useCallback(async () => {
    try {
      const tools = await client.listTools();
      wasSignedIn.current = true;
      setState({ is: 'signed_in', tools });
    } catch (error) {
      if (error instanceof CallError && error.status !== 401) setState({ is: 'failed', error });
    }
  }, [client]);

  const signIn = useCallback(
    async (token: string) => {
      const session = await client.openSession(token);
      writeSetting('actor', session.actor);
      setActor(session.actor);
      await enter();
    },
    [client, enter],
  );

  const signOut = useCallback(async () => {
    await client.closeSession();
    wasSignedIn.current = false;
    setState({ is: 'signed_out', cause: 'none' });
  }, [client]);

  const start = useCallback(async () => {
    const token = takeToken();
    if (token === null) return enter();
    try {
      await signIn(token);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      setState(
        error.status === 401 ? { is: 'signed_out', cause: 'start_url_unknown' } : { is: 'failed', error },
      );
    }
  }, [enter, signIn]);

  const hasStarted = useRef(false);
  useEffect(() => {
    // Strict mode runs effects twice; a token can be taken only once.
    if (!hasStarted.current) {
      hasStarted.current = true;
      void start();
    }
    // A start URL pasted into a tab that already shows the page changes only the fragment.
    const onHash = () => {
      if (location.hash.startsWith('#token=')) void start();
    };
    addEventListener('hashchange', onHash);
    return () => removeEventListener('hashchange', onHash);
  }, [start]);

  const retry = useCallback(() => {
    setState({ is: 'checking' });
    void enter();
  }, [enter]);

  const value = useMemo(
    () => ({ state, client, actor, signIn, signOut, retry }),
    [state, client, actor, signIn, signOut, retry],
  );
  return <Context value={value}>{children}</Context>;
}

export function useSession(): SessionValue {
  const value = use(Context);
  if (value === null) throw new Error('no SessionProvider above');
  return value;
}

export function useClient(): Client {
  return useSession().client;
}

export function useTools(): Tool[] {
  const { state } = useSession();
  return state.is === 'signed_in' ? state.tools : [];
}

/** Whether this server has the operation. Pages ask before they call: a newer page may meet an older server. */
export function useIsServed(name: OperationName | (string & {})): boolean {
  return useTools().some((tool) => tool.name === name);
}
