import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { app } from "../../../src/app.ts";
import type { Answer } from "../../support/harness.ts";

/** A Worker's isolate: what it keeps in memory between requests is its own, and lost where another takes its place. */
export function newIsolate(): (secret: string, method: string, path: string, call?: IsolateCall) => Promise<Answer> {
  // What is kept is kept for an environment.
  const own = { ...env };
  return async function ask(secret, method, path, { body, headers = {} } = {}) {
    const request = new Request(`https://parley.test${path}`, {
      method,
      headers: { Authorization: `Bearer ${secret}`, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const response = await app.fetch(request, own, createExecutionContext());
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  };
}

/**
 * As `newIsolate`, but requests that wait at the same time share calls, as they do when deployed: the test runner turns
 * that off. `vi.unstubAllGlobals()` ends it for isolates that are used for the first time afterward.
 */
export function newSharingIsolate(): ReturnType<typeof newIsolate> {
  const { compatibilityFlags } = Cloudflare;
  const shared = { ...compatibilityFlags, handle_cross_request_promise_resolution: true };
  vi.stubGlobal("Cloudflare", { compatibilityFlags: shared });
  return newIsolate();
}

interface IsolateCall {
  body?: unknown;
  headers?: Record<string, string>;
}
