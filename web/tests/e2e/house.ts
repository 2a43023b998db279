// Starts the real server on free ports with an empty data folder.

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Input, OperationName, Output } from '../../src/api/client.ts';

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
  // The pages are tried on records of the tests' own.
  const child = spawn(BINARY, ['serve', '--no-starter-data', '--data', data, ...ports, '--json'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
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

const SEQUENCED_WITHIN_MS = 300_000;

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

/** Calls an operation as the owner of the house, or as whoever has the token. */
export async function callAs<N extends OperationName>({ url, token }: Pick<House, 'url' | 'token'>, name: N, input: Input<N>): Promise<Output<N>> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/tools/${name}`, { method: 'POST', headers, body: JSON.stringify(input) });
  if (!response.ok) throw new Error(`${name} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Output<N>;
}

const DOCUMENTS = new URL('../../../crates/testkit/documents/', import.meta.url);

/** A document of the seed's story, such as `PRD-006`. */
export function readDocument(name: string): Promise<string> {
  return readFile(new URL(`${name}.md`, DOCUMENTS), 'utf8');
}

/** Research and an approved epic, as the seed's story begins: what `PRD-006` is made from. */
export async function seedStory(house: House): Promise<void> {
  for (const name of ['business_research', 'implementation_research', 'EPIC-006']) {
    await callAs(house, 'store_artifact', { artifact_content: await readDocument(name) });
  }
  await callAs(house, 'approve_artifact', { artifact_id: 'EPIC-006', meaning: 'reviewed and approved' });
}

/** The story one step further: `PRD-006` stored and approved by others, its next version begun, one task claimed, one done. */
export async function seedWork(house: House): Promise<void> {
  await seedStory(house);
  const prd = await readDocument('PRD-006');
  const [writer, reviewer] = [await asKey(house, 'writer', 'author'), await asKey(house, 'reviewer', 'approver')];
  await callAs(writer, 'store_artifact', { artifact_content: prd });
  await callAs(reviewer, 'approve_artifact', { artifact_id: 'PRD-006', meaning: 'clinically correct' });
  const next = prd.replace('**Version:** 1', '**Version:** 2').replace('runs on one machine', 'TBD');
  await callAs(writer, 'store_artifact', { artifact_content: next });
  for (const by of [writer, house]) await callAs(by, 'get_next_task', { claim: true });
  const { tasks } = await callAs(house, 'list_tasks', { status: 'in_progress' });
  const done = tasks.find(({ claimed_by }) => claimed_by === 'writer');
  if (done) await callAs(writer, 'update_task_status', { task_id: done.task_id, status: 'completed', completion_notes: 'Written and sent for review.' });
}

/** The same house, for somebody with a key of their own. */
export async function asKey(house: House, actor_id: string, ...roles: Input<'create_key'>['roles']): Promise<House> {
  const { key } = await callAs(house, 'create_key', { actor_id, roles });
  return { ...house, token: key };
}

function parse(line: string): { ready?: boolean; http?: string } | null {
  try {
    return JSON.parse(line) as { ready?: boolean; http?: string };
  } catch {
    return null;
  }
}
