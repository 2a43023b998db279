// Where a link of a document may lead: to another document here, or out by a protocol that runs nothing. Pure.

export interface DocumentAddress {
  id: string;
  version?: number;
  project_id?: string;
}

export type Target =
  | { is: 'document'; document: DocumentAddress }
  | { is: 'outside'; url: string }
  /** Anything else: shown, and never followed. */
  | { is: 'nothing' };

const OUTSIDE = new Set(['http:', 'https:', 'mailto:']);
const STORED = /^(?:mcp:\/\/resources\/)?artifacts\/(?:projects\/([A-Za-z0-9._-]+)\/)?[A-Za-z0-9._-]+\/([A-Za-z0-9][A-Za-z0-9._-]*)\.md$/;
const VERSIONED = /^(.+)_v([1-9]\d{0,2})$/;

/** Reads the path or the URI of a stored document; `null` for anything else. */
export function parseStored(text: string): DocumentAddress | null {
  const found = STORED.exec(text);
  if (found === null || text.includes('..')) return null;
  const [, project_id, file = ''] = found;
  const [, id = file, version] = VERSIONED.exec(file) ?? [];
  return { id, ...(version ? { version: Number(version) } : {}), ...(project_id ? { project_id } : {}) };
}

export function targetOf(href: string): Target {
  const document = parseStored(href);
  if (document !== null) return { is: 'document', document };
  // Without a base, so that only whole addresses pass; the parser strips what would hide a protocol.
  if (!URL.canParse(href)) return { is: 'nothing' };
  const url = new URL(href);
  return OUTSIDE.has(url.protocol) ? { is: 'outside', url: url.href } : { is: 'nothing' };
}
