// Addresses of the pages, both ways. Pure.

export const SETTINGS_SECTIONS = ['keys', 'models', 'servers', 'browser'] as const;
export type SettingsSection = (typeof SETTINGS_SECTIONS)[number];

export type Route =
  | { page: 'home' }
  | { page: 'documents' }
  | { page: 'new_document' }
  | { page: 'document'; id: string }
  | { page: 'edit_document'; id: string }
  | { page: 'changes'; id: string }
  | { page: 'tasks' }
  | { page: 'search' }
  | { page: 'graph' }
  | { page: 'herbs' }
  | { page: 'herb'; id: string }
  | { page: 'audit' }
  | { page: 'event'; call_id: string }
  | { page: 'integrity' }
  | { page: 'proof' }
  | { page: 'settings'; section: SettingsSection }
  | { page: 'not_found'; path: string };

export function parsePath(path: string): Route {
  const parts = path.split('/').slice(1);
  if (parts.length > 1 && parts.at(-1) === '') parts.pop();
  const [first, second, third, ...rest] = parts;
  const notFound: Route = { page: 'not_found', path };
  if (rest.length > 0) return notFound;
  if (first === '' && second === undefined) return { page: 'home' };
  if (first === 'tasks') return second === undefined ? { page: 'tasks' } : notFound;
  if (first === 'search') return second === undefined ? { page: 'search' } : notFound;
  if (first === 'graph') return second === undefined ? { page: 'graph' } : notFound;
  if (first === 'herbs' && third === undefined) {
    if (second === undefined) return { page: 'herbs' };
    const id = decode(second);
    return id === null || id === '' ? notFound : { page: 'herb', id };
  }
  if (first === 'documents') return parseDocument(second, third) ?? notFound;
  if (first === 'audit') {
    if (second === undefined) return { page: 'audit' };
    if (second === 'integrity' && third === undefined) return { page: 'integrity' };
    if (second === 'proof' && third === undefined) return { page: 'proof' };
    const call_id = second === 'events' && third ? decode(third) : null;
    return call_id === null ? notFound : { page: 'event', call_id };
  }
  if (first === 'settings' && third === undefined) {
    const section = SETTINGS_SECTIONS.find((one) => one === (second ?? 'keys'));
    return section === undefined ? notFound : { page: 'settings', section };
  }
  return notFound;
}

function parseDocument(second: string | undefined, third: string | undefined): Route | null {
  if (second === undefined) return { page: 'documents' };
  if (second === 'new') return third === undefined ? { page: 'new_document' } : null;
  const id = decode(second);
  if (id === null || id === '') return null;
  if (third === undefined) return { page: 'document', id };
  if (third === 'edit') return { page: 'edit_document', id };
  return third === 'changes' ? { page: 'changes', id } : null;
}

export function pathOf(route: Exclude<Route, { page: 'not_found' }>): string {
  switch (route.page) {
    case 'home':
      return '/';
    case 'documents':
      return '/documents';
    case 'new_document':
      return '/documents/new';
    case 'document':
      return `/documents/${encodeURIComponent(route.id)}`;
    case 'edit_document':
      return `/documents/${encodeURIComponent(route.id)}/edit`;
    case 'changes':
      return `/documents/${encodeURIComponent(route.id)}/changes`;
    case 'tasks':
      return '/tasks';
    case 'search':
      return '/search';
    case 'graph':
      return '/graph';
    case 'herbs':
      return '/herbs';
    case 'herb':
      return `/herbs/${encodeURIComponent(route.id)}`;
    case 'audit':
      return '/audit';
    case 'event':
      return `/audit/events/${encodeURIComponent(route.call_id)}`;
    case 'integrity':
      return '/audit/integrity';
    case 'proof':
      return '/audit/proof';
    case 'settings':
      return `/settings/${route.section}`;
  }
}

/** The address of one version of a document in its project; the latest, and the server's own project, unless given. */
export function pathOfDocument(
  { id, version, project_id }: { id: string; version?: number | undefined; project_id?: string | undefined },
  page: 'document' | 'edit_document' | 'changes' = 'document',
): string {
  const search = new URLSearchParams();
  if (version !== undefined) search.set('version', String(version));
  if (project_id !== undefined) search.set('project', project_id);
  return pathOf({ page, id }) + (search.size > 0 ? `?${search}` : '');
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
