// What a key is allowed and whether it still opens anything. Pure.

import type { Output } from '../../api/client.ts';

export type Key = Output<'list_keys'>['keys'][number];

export type KeyState = 'active' | 'expired' | 'revoked';

export function stateOf(key: Key, now: Date): KeyState {
  if (key.revoked_at) return 'revoked';
  if (key.expires_at && new Date(key.expires_at) <= now) return 'expired';
  return 'active';
}

export function isActive(key: Key, now: Date): boolean {
  return stateOf(key, now) === 'active';
}

export const ROLES = [
  'viewer',
  'clinician',
  'author',
  'curator',
  'approver',
  'auditor',
  'privacy_officer',
  'admin',
  'agent',
] as const;
export type Role = (typeof ROLES)[number];

const ACTOR_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export function isActorId(text: string): boolean {
  return ACTOR_ID.test(text);
}

/** One scope per line or blank; doubles count once. */
export function parseScopes(text: string): string[] {
  return [...new Set(text.split(/\s+/).filter((scope) => scope !== ''))];
}
