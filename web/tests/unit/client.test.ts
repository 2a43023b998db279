// The client against a real HTTP server that answers what it is told to.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CallError, Client } from '../../src/api/client.ts';
import { readExport } from '../../src/pages/audit/export-dialog.tsx';

interface Seen {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

let server: Server;
let base: string;
let seen: Seen[];
let answers: { status: number; headers?: Record<string, string>; body: string }[];

beforeEach(async () => {
  seen = [];
  answers = [];
  server = createServer(async (incoming, outgoing) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    seen.push({ method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers, body: Buffer.concat(parts).toString() });
    const answer = answers.shift() ?? { status: 200, body: '{}' };
    outgoing.writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function failureOf(call: Promise<unknown>): Promise<CallError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CallError);
  return error as CallError;
}

test('a call is a POST with JSON and a correlation id', async () => {
  answers.push({ status: 200, body: '{"artifact_types":[]}' });
  expect(await new Client({ base }).call('list_artifact_types', {})).toEqual({ artifact_types: [] });
  expect(seen[0]).toMatchObject({ method: 'POST', path: '/api/tools/list_artifact_types', body: '{}' });
  expect(seen[0]?.headers['content-type']).toBe('application/json');
  expect(seen[0]?.headers['x-correlation-id']).toMatch(/^web-[0-9a-f]{12}$/);
  expect(seen[0]?.headers.authorization).toBeUndefined();
});

test('a token goes into the header of the session request alone', async () => {
  answers.push({ status: 200, body: '{"actor":"owner","organisation_id":"default"}' });
  expect(await new Client({ base }).openSession('secret')).toEqual({ actor: 'owner', organisation_id: 'default' });
  expect(seen[0]).toMatchObject({ method: 'POST', path: '/session', body: '' });
  expect(seen[0]?.headers.authorization).toBe('Bearer secret');
});

test('a refused token is no ended session', async () => {
  let n_noticed = 0;
  answers.push({ status: 401, body: '{"error":{"code":"UNAUTHENTICATED","message":"the token is not known"}}' });
  const client = new Client({ base, onUnauthenticated: () => n_noticed++ });
  expect((await failureOf(client.openSession('wrong'))).status).toBe(401);
  expect(n_noticed).toBe(0);
});

test('a session is ended on the server, and one that has ended already is no failure', async () => {
  answers.push({ status: 204, body: '' }, { status: 401, body: '{}' }, { status: 503, body: '{}' });
  const client = new Client({ base });
  await client.closeSession();
  expect(seen[0]).toMatchObject({ method: 'DELETE', path: '/session', body: '' });
  await client.closeSession();
  expect((await failureOf(client.closeSession())).status).toBe(503);
});

test('an ended session is noticed', async () => {
  let n_noticed = 0;
  answers.push({ status: 401, body: '{"error":{"code":"UNAUTHENTICATED","message":"no"}}' });
  const client = new Client({ base, onUnauthenticated: () => n_noticed++ });
  expect((await failureOf(client.listTools())).code).toBe('UNAUTHENTICATED');
  expect(n_noticed).toBe(1);
});

test('an error carries code, words, details, reference and when to come back', async () => {
  const body = { error: { code: 'INVALID_ARG', message: 'no', details: { field: 'call_id', expected: 'a UUID' } } };
  answers.push({ status: 400, headers: { 'Retry-After': '3' }, body: JSON.stringify(body) });
  const error = await failureOf(new Client({ base }).call('audit_prove', { call_id: 'x' }));
  expect(error).toMatchObject({ code: 'INVALID_ARG', status: 400, message: 'no', retryAfterSeconds: 3 });
  expect(error.details).toEqual({ field: 'call_id', expected: 'a UUID' });
  expect(error.reference).toBe(seen[0]?.headers['x-correlation-id']);
  expect(error.callId).toBeUndefined();
});

test('the id of the call is read from the header, the details or the message', async () => {
  const id = '0199f000-0000-7000-8000-000000000001';
  const body = (error: object) => JSON.stringify({ error: { code: 'INTERNAL', message: 'no', ...error } });
  answers.push(
    { status: 500, headers: { 'X-Call-Id': id }, body: body({}) },
    { status: 500, body: body({ details: { call_id: id } }) },
    { status: 500, body: body({ message: `more under call ${id}` }) },
  );
  const client = new Client({ base });
  for (let round = 0; round < 3; round += 1) {
    expect((await failureOf(client.call('audit_verify', {}))).callId).toBe(id);
  }
});

test.each([
  [404, 'NOT_FOUND'],
  [413, 'TOO_LARGE'],
  [502, 'OFFLINE'],
  [500, 'INTERNAL'],
])('an answer %i of somebody in between is understood', async (status, code) => {
  answers.push({ status, body: '<html>' });
  expect((await failureOf(new Client({ base }).listTools())).code).toBe(code);
});

test('no answer at all is said to be that', async () => {
  server.closeAllConnections();
  server.close();
  expect(await failureOf(new Client({ base }).listTools())).toMatchObject({ code: 'OFFLINE', status: 0 });
});

test('an aborted call is no failure of the server', async () => {
  const abort = new AbortController();
  const call = new Client({ base }).listTools({ signal: abort.signal });
  abort.abort();
  await expect(call).rejects.toMatchObject({ name: 'AbortError' });
});

test('a sick server still tells its health', async () => {
  answers.push({ status: 503, body: '{"status":"degraded","version":"1","uptime_seconds":1,"dependencies":{"database":"unreachable"}}' });
  expect(await new Client({ base }).readHealth()).toMatchObject({ status: 'degraded' });
});

test('an export reads page after page, and ends when the server does not move on', async () => {
  const read = () => {
    const counts: number[] = [];
    const options = { format: 'ndjson' as const, fromIndex: 5, signal: new AbortController().signal, onRead: (n: number) => counts.push(n) };
    return readExport(new Client({ base }), options).then((lines) => ({ lines, counts }));
  };
  answers.push({ status: 200, body: '{"lines":["a","b"],"next_index":7}' }, { status: 200, body: '{"lines":["c"]}' });
  expect(await read()).toEqual({ lines: ['a', 'b', 'c'], counts: [2, 3] });
  expect(seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { format: 'ndjson', from_index: 5, limit: 500 },
    { format: 'ndjson', from_index: 7, limit: 500 },
  ]);
  answers.push({ status: 200, body: '{"lines":["a"],"next_index":5}' });
  expect((await read()).lines).toEqual(['a']);
});
