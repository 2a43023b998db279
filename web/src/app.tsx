// Puts the page of the address into the frame.

import { lazy, Suspense } from 'react';
import { SessionProvider, useSession } from './api/session.tsx';
import { LanguageProvider, useLanguage } from './i18n/language.tsx';
import { parts } from './i18n/messages/parts.ts';
import { shell } from './i18n/messages/shell.ts';
import { Progress } from './parts/progress.tsx';
import { ErrorState } from './parts/states.tsx';
import { ToastProvider } from './parts/toast.tsx';
import { usePath, useRoute } from './router/router.tsx';
import type { Route } from './router/routes.ts';
import { ErrorBoundary } from './shell/error-boundary.tsx';
import { NotFound } from './shell/not-found.tsx';
import { Shell } from './shell/shell.tsx';
import { SignIn } from './shell/sign-in.tsx';

// Each page is loaded when it is opened: nobody needs all of them, and the first one comes sooner.
const AuditPage = lazy(async () => ({ default: (await import('./pages/audit/audit-page.tsx')).AuditPage }));
const BoardPage = lazy(async () => ({ default: (await import('./pages/documents/board-page.tsx')).BoardPage }));
const ChangesPage = lazy(async () => ({ default: (await import('./pages/documents/changes-page.tsx')).ChangesPage }));
const DocumentPage = lazy(async () => ({ default: (await import('./pages/documents/document-page.tsx')).DocumentPage }));
const EditPage = lazy(async () => ({ default: (await import('./pages/documents/edit-page.tsx')).EditPage }));
const EventPage = lazy(async () => ({ default: (await import('./pages/audit/event-page.tsx')).EventPage }));
const GraphPage = lazy(async () => ({ default: (await import('./pages/graph/graph-page.tsx')).GraphPage }));
const HerbPage = lazy(async () => ({ default: (await import('./pages/herbs/herb-page.tsx')).HerbPage }));
const HerbsPage = lazy(async () => ({ default: (await import('./pages/herbs/herbs-page.tsx')).HerbsPage }));
const HomePage = lazy(async () => ({ default: (await import('./pages/home/home-page.tsx')).HomePage }));
const SearchPage = lazy(async () => ({ default: (await import('./pages/search/search-page.tsx')).SearchPage }));
const SettingsPage = lazy(async () => ({ default: (await import('./pages/settings/settings-page.tsx')).SettingsPage }));
const TasksPage = lazy(async () => ({ default: (await import('./pages/tasks/tasks-page.tsx')).TasksPage }));

export function App() {
  return (
    <LanguageProvider>
      <ToastProvider>
        <SessionProvider>
          <Shell>
            <Gate />
          </Shell>
        </SessionProvider>
      </ToastProvider>
    </LanguageProvider>
  );
}

/** Nothing is asked of the server before it is known who asks. */
function Gate() {
  const { t } = useLanguage();
  const { state, retry } = useSession();
  const path = usePath();
  const route = useRoute();
  switch (state.is) {
    case 'checking':
      return <Progress label={t(shell.checking)} />;
    case 'signed_out':
      return <SignIn cause={state.cause} />;
    case 'failed':
      return <ErrorState error={state.error} onRetry={retry} />;
    case 'signed_in':
      return (
        <ErrorBoundary resetKey={path}>
          <Suspense fallback={<Progress label={t(parts.loading)} />}>
            <Page route={route} />
          </Suspense>
        </ErrorBoundary>
      );
  }
}

function Page({ route }: { route: Route }) {
  switch (route.page) {
    case 'home':
      return <HomePage />;
    case 'documents':
      return <BoardPage />;
    case 'new_document':
      return <EditPage key="" />;
    case 'document':
      return <DocumentPage key={route.id} id={route.id} />;
    case 'edit_document':
      return <EditPage key={route.id} id={route.id} />;
    case 'changes':
      return <ChangesPage key={route.id} id={route.id} />;
    case 'tasks':
      return <TasksPage />;
    case 'search':
      return <SearchPage />;
    case 'graph':
      return <GraphPage />;
    case 'herbs':
      return <HerbsPage />;
    case 'herb':
      return <HerbPage key={route.id} id={route.id} />;
    case 'audit':
    case 'integrity':
    case 'proof':
      return <AuditPage page={route.page} />;
    case 'event':
      return <EventPage key={route.call_id} callId={route.call_id} />;
    case 'settings':
      return <SettingsPage section={route.section} />;
    case 'not_found':
      return <NotFound path={route.path} />;
  }
}
