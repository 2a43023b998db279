// Calls operations: `POST /api/tools/{operation}` with the session cookie. Types come from the OpenAPI document.

import type { Operations } from './operations.ts';

export type OperationName = keyof Operations;
export type Input<N extends OperationName> = Operations[N]['input'];
export type Output<N extends OperationName> = Operations[N]['output'];

export interface Tool {
  name: string;
  family: string;
  about: string;
}

export interface Health {
  status: string;
  version: string;
  uptime_seconds: number;
  dependencies: Record<string, string>;
}

export interface Session {
  actor: string;
  organisation_id: string;
}

/** A call that failed, with what a reader needs to act on it. */
export class CallError extends Error {
  /** The server's word for the kind of failure; `OFFLINE` when there was no answer at all. */
  readonly code: string;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;
  /** The correlation id that this page sent along; the event of the call carries it. */
  readonly reference: string | undefined;
  readonly callId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(init: {
    code: string;
    message: string;
    status: number;
    details?: Record<string, unknown> | undefined;
    reference?: string | undefined;
    callId?: string | undefined;
    retryAfterSeconds?: number | undefined;
    cause?: unknown;
  }) {
    super(init.message, { cause: init.cause });
    this.name = 'CallError';
    this.code = init.code;
    this.status = init.status;
    this.details = init.details ?? {};
    this.reference = init.reference;
    this.callId = init.callId;
    this.retryAfterSeconds = init.retryAfterSeconds;
  }
}

export interface ClientOptions {
  /** Where the server is; empty for the origin of the page. */
  base?: string;
  /** Called when a call is answered with 401, before the error is thrown. */
  onUnauthenticated?: () => void;
}

export interface CallOptions {
  signal?: AbortSignal;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

export class Client {
  readonly #base: string;
  readonly #onUnauthenticated: () => void;

  constructor({ base = '', onUnauthenticated = () => {} }: ClientOptions = {}) {
    this.#base = base;
    this.#onUnauthenticated = onUnauthenticated;
  }

  async call<N extends OperationName>(name: N, input: Input<N>, options: CallOptions = {}): Promise<Output<N>> {
    const reference = `web-${randomWord()}`;
    const init: RequestInit = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Correlation-Id': reference },
      body: JSON.stringify(input),
    };
    return (await this.#ask(`/api/tools/${name}`, init, options, reference)) as Output<N>;
  }

  async listTools(options: CallOptions = {}): Promise<Tool[]> {
    const answer = (await this.#ask('/api/tools', {}, options)) as { tools: Tool[] };
    return answer.tools;
  }

  /** A server that is not well answers 503 with the same body. */
  async readHealth(options: CallOptions = {}): Promise<Health> {
    const response = await this.#send('/health', {}, options);
    return (await readJson(response)) as Health;
  }

  /** Exchanges a token for the session cookie. The token goes into the header of this one request and nowhere else. */
  async openSession(token: string): Promise<Session> {
    const response = await this.#send('/session', { method: 'POST', headers: { Authorization: `Bearer ${token}` } }, {});
    const answer = await readJson(response);
    if (!response.ok) throw failure(response, answer, undefined);
    return answer as Session;
  }

  /** Ends the session here and on the server. One that has ended already is no failure. */
  async closeSession(): Promise<void> {
    const response = await this.#send('/session', { method: 'DELETE' }, {});
    if (!response.ok && response.status !== 401) throw failure(response, await readJson(response), undefined);
  }

  async #ask(path: string, init: RequestInit, options: CallOptions, reference?: string): Promise<unknown> {
    const response = await this.#send(path, init, options, reference);
    const answer = await readJson(response);
    if (response.ok) return answer;
    if (response.status === 401) this.#onUnauthenticated();
    throw failure(response, answer, reference);
  }

  async #send(path: string, init: RequestInit, { signal }: CallOptions, reference?: string): Promise<Response> {
    try {
      return await fetch(this.#base + path, { ...init, credentials: 'same-origin', ...(signal ? { signal } : {}) });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new CallError({ code: 'OFFLINE', message: 'no answer', status: 0, reference, cause });
    }
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    // A proxy in between, or a connection that broke off.
    return null;
  }
}

function failure(response: Response, answer: unknown, reference: string | undefined): CallError {
  const body = member(answer, 'error');
  const details = member(body, 'details');
  const message = text(member(body, 'message')) ?? `HTTP ${response.status}`;
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return new CallError({
    code: text(member(body, 'code')) ?? codeOf(response.status),
    message,
    status: response.status,
    details: isObject(details) ? details : undefined,
    reference,
    callId: response.headers.get('X-Call-Id') ?? text(member(details, 'call_id')) ?? UUID.exec(message)?.[0],
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}

/** For answers that are not the server's own. */
function codeOf(status: number): string {
  if (status === 401) return 'UNAUTHENTICATED';
  if (status === 403) return 'DENIED';
  if (status === 404) return 'NOT_FOUND';
  if (status === 413) return 'TOO_LARGE';
  if (status === 502 || status === 503 || status === 504) return 'OFFLINE';
  return 'INTERNAL';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Twelve random characters. Only for telling calls apart; `randomUUID` exists only in secure contexts. */
function randomWord(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
