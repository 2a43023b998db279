// Settings that this browser keeps. Never a token, never anything about a patient.

const NAMES = ['language', 'theme', 'shortcuts', 'actor', 'log_key', 'checkpoint'] as const;
export type SettingName = (typeof NAMES)[number];

const PREFIX = 'materia.';

/** `null` when nothing is kept, or when this browser keeps nothing. */
export function readSetting(name: SettingName): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** `null` forgets. Where storage is off, the choice holds until the page is closed. */
export function writeSetting(name: SettingName, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    // Nothing to do: the setting is a convenience.
  }
}

export function isOneOf<T extends string>(values: readonly T[], value: string | null | undefined): value is T {
  return values.some((one) => one === value);
}
