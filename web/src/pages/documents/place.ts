// Which document, version and project an address means. Pure.

export interface Place {
  version?: number;
  project_id?: string;
}

const PROJECT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export function parsePlace(search: string): Place {
  const read = new URLSearchParams(search);
  const version = Number(read.get('version') ?? Number.NaN);
  return {
    ...(Number.isInteger(version) && version >= 1 && version <= 999 ? { version } : {}),
    ...projectOf(read),
  };
}

export function isProjectId(text: string): boolean {
  return PROJECT.test(text);
}

export function projectOf(read: URLSearchParams): { project_id?: string } {
  const project_id = read.get('project')?.trim() ?? '';
  return isProjectId(project_id) ? { project_id } : {};
}
