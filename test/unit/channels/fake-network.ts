import { onTestFinished, vi } from "vitest";

/** One request as it went out. */
export interface Sent {
  url: string;
  method: string | undefined;
  headers: Record<string, string>;
  redirect: string | undefined;
  body: unknown;
}

export type Reply = (signal: AbortSignal | null | undefined) => Response | Promise<Response>;

/** Puts a network in place of `fetch` for this test: it gives `replies` in turn, and tells what it was asked. */
export function fakeNetwork(...replies: Reply[]): Sent[] {
  const sent: Sent[] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    sent.push({
      url,
      method: init.method,
      headers: Object.fromEntries(new Headers(init.headers)),
      redirect: init.redirect,
      body: typeof init.body === "string" ? JSON.parse(init.body) : init.body,
    });
    const reply = replies[sent.length - 1];
    if (!reply) throw new Error(`no reply to ${url}`);
    return reply(init.signal);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return sent;
}

/** The runtime's error for a connection that was refused, closed or reset: it is the same for all three. */
export function connectionLost(): Error {
  return Object.assign(new Error("Network connection lost."), { retryable: true });
}
