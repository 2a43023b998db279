// A server for tests only: serves `dist` with the strict policy and passes everything else on to the real server.

import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Output } from '../../src/api/client.ts';
import { parsePath } from '../../src/router/routes.ts';

export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const PASSED_ON = /^\/(?:api|session|health|metrics|mcp)(?:\/|$)/;

/** What a front makes of the server's proofs and checks, as a dishonest server would. */
export type Lie = 'none' | 'event' | 'root';

export interface Front {
  url: string;
  lie: Lie;
  /** What the front answers instead of the server, by path: for failures that cannot be had otherwise. */
  answers: Map<string, { status: number; body: unknown; headers?: Record<string, string> }>;
  close: () => Promise<void>;
}

/** `bare`: the operations of audit, keys, documents, tasks and evidence are hidden, as with an older server. */
export async function startFront(server: string, mode: 'whole' | 'bare'): Promise<Front> {
  const self: Omit<Front, 'url' | 'close'> = { lie: 'none', answers: new Map() };
  const front = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch((error: unknown) => {
      outgoing.writeHead(502).end(String(error));
    });
  });

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const path = new URL(incoming.url ?? '/', 'http://front').pathname;
    const fixed = self.answers.get(path);
    if (fixed) return sendJson(outgoing, fixed.status, fixed.body, fixed.headers);
    const operation = /^\/api\/tools\/(\w+)$/.exec(path)?.[1];
    if (operation && incoming.method === 'POST') return callOperation(operation, incoming, outgoing);
    if (path === '/api/tools') return listTools(incoming, outgoing);
    if (PASSED_ON.test(path)) return passOn(incoming, outgoing);
    return serveFile(path, incoming, outgoing);
  };

  const isHidden = (operation: string) => mode === 'bare' && /^audit_|_keys?$|_artifacts?$|_tasks?$|^read_|^hybrid_|^export_|^query_/.test(operation);

  const callOperation = async (operation: string, incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (isHidden(operation)) {
      return sendJson(outgoing, 404, { error: { code: 'NOT_FOUND', message: 'no operation of this name' } });
    }
    if (self.lie === 'none') return passOn(incoming, outgoing);
    const { status, body } = await askServer(incoming);
    return sendJson(outgoing, status, twist(operation, body, self.lie));
  };

  const askServer = async (incoming: IncomingMessage) => {
    const headers = { 'content-type': 'application/json', cookie: incoming.headers.cookie ?? '' };
    const response = await fetch(server + incoming.url, { method: 'POST', headers, body: await readBody(incoming) });
    return { status: response.status, body: (await response.json()) as unknown };
  };

  const listTools = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (mode === 'whole') return passOn(incoming, outgoing);
    const response = await fetch(`${server}/api/tools`, { headers: { cookie: incoming.headers.cookie ?? '' } });
    const body = (await response.json()) as { tools?: { name: string }[] };
    const tools = body.tools?.filter((tool) => !isHidden(tool.name));
    return sendJson(outgoing, response.status, tools ? { tools } : body);
  };

  const passOn = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { host: _host, origin, ...headers } = incoming.headers;
    const target = new URL(incoming.url ?? '/', server);
    const onward = request(target, {
      method: incoming.method,
      headers: { ...headers, host: target.host, ...(origin ? { origin: server } : {}) },
    });
    onward.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  };

  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  const { port } = front.address() as AddressInfo;
  return Object.assign(self, { url: `http://127.0.0.1:${port}`, close: () => close(front) });
}

/** Changes what auditors are shown: a number in the event, or the root under the signature. */
function twist(operation: string, body: unknown, lie: Lie): unknown {
  if (operation === 'audit_verify') {
    const problem = { kind: 'leaf', leaf_index: 1, message: 'the event was changed' };
    return { ...(body as Output<'audit_verify'>), ok: false, problems: [problem], n_problems: 1 };
  }
  if (operation !== 'audit_prove') return body;
  const proof = body as Output<'audit_prove'>;
  if (lie === 'event') {
    return { ...proof, event_json: proof.event_json.replace('"latency_ms":', '"latency_ms":1') };
  }
  const root = proof.checkpoint.split('\n')[2] ?? '';
  const other = `${'A'.repeat(42)}8=`;
  return { ...proof, checkpoint: proof.checkpoint.replace(root, other), proof: proof.proof.replace(root, other) };
}

/** Files by name; every page of the UI is the same document, and an unknown address says so in its status. */
async function serveFile(path: string, incoming: IncomingMessage, outgoing: ServerResponse) {
  const headers = {
    'Content-Security-Policy': POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
  const file = normalize(join(DIST, path));
  if (extname(path) !== '' && file.startsWith(DIST)) {
    try {
      const content = await readFile(file);
      const cache = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
      outgoing.writeHead(200, { ...headers, 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream', 'Cache-Control': cache });
      return outgoing.end(content);
    } catch {
      return outgoing.writeHead(404, headers).end();
    }
  }
  if (incoming.method !== 'GET') return outgoing.writeHead(405, headers).end();
  const status = parsePath(path).page === 'not_found' ? 404 : 200;
  outgoing.writeHead(status, { ...headers, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' });
  return outgoing.end(await readFile(join(DIST, 'index.html')));
}

function sendJson(outgoing: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  outgoing.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers });
  outgoing.end(JSON.stringify(body));
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
