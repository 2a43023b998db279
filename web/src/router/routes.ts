// Addresses of the pages, both ways. Pure.

export const SETTINGS_SECTIONS = ['keys', 'models', 'servers', 'browser'] as const;
export type SettingsSection = (typeof SETTINGS_SECTIONS)[number];

export type Route =
  | { page: 'home' }
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

export function pathOf(route: Exclude<Route, { page: 'not_found' }>): string {
  switch (route.page) {
    case 'home':
      return '/';
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

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
