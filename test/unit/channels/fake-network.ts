import { onTestFinished, vi } from "vitest";

/** What a form with a file says. */
export interface SentForm {
  fields: Record<string, string>;
  file: { field: string; name: string; type: string; bytes: Uint8Array };
}

/** One request as it went out. A form is a `SentForm`. */
export interface Sent {
  /** Without the proof that the caller knows the secret of Meta's app. */
  url: string;
  method: string | undefined;
  headers: Record<string, string>;
  redirect: string | undefined;
  body: unknown;
}

export type Reply = (signal: AbortSignal | null | undefined, url: string) => Response | Promise<Response>;

/** Puts a network in place of `fetch` for this test: it gives `replies` in turn, and tells what it was asked. */
export function fakeNetwork(...replies: Reply[]): Sent[] {
  const sent: Sent[] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    sent.push({
      url: withoutProof(url),
      method: init.method,
      headers: Object.fromEntries(new Headers(init.headers)),
      redirect: init.redirect,
      body: typeof init.body === "string" ? JSON.parse(init.body) : await formIn(init),
    });
    const reply = replies[sent.length - 1];
    if (!reply) throw new Error(`no reply to ${url}`);
    return reply(init.signal, url);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return sent;
}

/** A URL of Meta's API without its proof. */
export function withoutProof(url: string): string {
  return url.replace(/[?&]appsecret_proof=[0-9a-f]{64}$/, "");
}

/** Reads a form to its end, as a network does before it answers. Other bodies stay as they are. */
async function formIn({ body, headers }: RequestInit): Promise<unknown> {
  if (!(body instanceof ReadableStream)) return body;
  const form: SentForm = { fields: {}, file: { field: "", name: "", type: "", bytes: new Uint8Array() } };
  for (const [field, value] of await new Response(body, { headers: headers ?? {} }).formData()) {
    if (typeof value === "string") form.fields[field] = value;
    else form.file = { field, name: value.name, type: value.type, bytes: await value.bytes() };
  }
  return form;
}

/** The runtime's error for a connection that was refused, closed or reset: it is the same for all three. */
export function connectionLost(): Error {
  return Object.assign(new Error("Network connection lost."), { retryable: true });
}

/** A whole file. */
export const WHOLE = { isHead: false, range: null };
