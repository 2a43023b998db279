// Starts the real server on free ports with an empty data folder.

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const BINARY =
  process.env['MATERIA_BIN'] ?? fileURLToPath(new URL('../../../target/debug/materia', import.meta.url));

export interface House {
  url: string;
  token: string;
  stop: () => Promise<void>;
}

export async function startHouse(): Promise<House> {
  const data = await mkdtemp(join(tmpdir(), 'materia-web-'));
  const ports = ['--listen', '--tasks-listen', '--ids-listen', '--grpc-listen'].flatMap((flag) => [flag, '127.0.0.1:0']);
  // Settings of whoever runs the tests must not reach this server.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MATERIA_')));
  const child = spawn(BINARY, ['serve', '--data', data, ...ports, '--json'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const address = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`the server ended with ${code}: ${errors}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = parse(line);
      if (said?.ready === true) resolve(String(said.http));
    });
  });
  const token = (await readFile(join(data, 'token'), 'utf8')).trim();
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(data, { recursive: true, force: true });
  };
  return { url: `http://${address}`, token, stop };
}

const SEQUENCED_WITHIN_MS = 20_000;

/** How many calls of each kind [`seed`] makes. */
export const SEEDED = { reads: 60, ids: 60, followed: 6, invalid: 3 };

/**
 * Makes calls and keys as a team would, and waits until all ids are in the log. `T-4` is the task of the followed ones,
 * `run-1` the run of two of them.
 */
export async function seed({ url, token }: House): Promise<void> {
  const call = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const all = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
    const response = await fetch(url + path, { method: 'POST', headers: all, body: JSON.stringify(body) });
    if (response.status >= 500) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as { key_id?: string; events?: { leaf_index: number | null }[] };
  };
  const task = { 'x-correlation-id': 'T-4' };
  const input = { artifact_type: 'backlog_story' };
  for (let at = 0; at < SEEDED.reads; at += 1) await call('/api/tools/list_artifact_types', {});
  for (let at = 0; at < SEEDED.ids - SEEDED.followed; at += 1) await call('/api/tools/get_next_available_id', input);
  for (let at = 0; at < SEEDED.invalid; at += 1) await call('/api/tools/get_next_available_id', { artifact_type: 'nothing' });
  for (let at = 0; at < SEEDED.followed - 2; at += 1) await call('/api/tools/get_next_available_id', input, task);
  for (let at = 0; at < 2; at += 1) await call('/tools', { tool: 'get_next_available_id', input, run_id: 'run-1' }, task);
  await call('/api/tools/get_next_available_id', input, { authorization: 'Bearer wrong' });
  await call('/api/tools/create_key', { actor_id: 'pharmacy-agent', roles: ['agent', 'viewer'], scopes: ['patient/Observation.rs'], expires_in_days: 90 });
  await call('/api/tools/create_key', { actor_id: 'somchai', roles: ['auditor'] });
  const lost = await call('/api/tools/create_key', { actor_id: 'lost-laptop', roles: ['clinician', 'author'] });
  await call('/api/tools/revoke_key', { key_id: lost.key_id });
  const isSequenced = async () => {
    const { events } = await call('/api/tools/audit_search', { operation: 'get_next_available_id', limit: 100 });
    return events?.every(({ leaf_index }) => leaf_index !== null);
  };
  const until = Date.now() + SEQUENCED_WITHIN_MS;
  while (!(await isSequenced())) {
    if (Date.now() > until) throw new Error('the events were not sequenced in time');
  }
}

function parse(line: string): { ready?: boolean; http?: string } | null {
  try {
    return JSON.parse(line) as { ready?: boolean; http?: string };
  } catch {
    return null;
  }
}
