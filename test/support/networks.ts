import { onTestFinished, vi } from "vitest";
import { connectionLost } from "../unit/channels/fake-network.ts";

/** One call that reached a network: which method of it, for which chat or number, with what. */
export interface NetworkCall {
  network: "telegram" | "whatsapp";
  /** `sendMessage` and so on, or a file's path; `messages`, or a media id. */
  method: string;
  /** The secret that it was called with. */
  token: string;
  /** Whom it is for. */
  to: string;
  /** What the contact would read. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a body is whatever the test expects of it
  body: any;
  headers: Headers;
  url: string;
  /** When it came, by the test's clock. */
  at: number;
}

/** What a network answers to a call; one that throws is a connection that broke. */
export type Script = (call: NetworkCall, number: number) => Response | Promise<Response>;

/**
 * Puts both networks in place of `fetch` for this test: `script` answers, and the calls are kept in the order in which
 * they came. Worker and objects run in the test's isolate, so theirs is the same `fetch`.
 */
export function fakeNetworks(script: Script = accept): NetworkCall[] {
  const calls: NetworkCall[] = [];
  vi.stubGlobal("fetch", async (input: string, init: RequestInit = {}) => {
    const call = callOf(input, init);
    calls.push(call);
    return script(call, calls.length);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return calls;
}

let sent = 1_000;

/** Takes whatever is sent, with an id of its own. */
export function accept({ network, to }: NetworkCall): Response {
  const id = ++sent;
  if (network === "telegram") return Response.json({ ok: true, result: { message_id: id, chat: { id: to } } });
  const body = { messaging_product: "whatsapp", contacts: [{ input: to, wa_id: to }], messages: [{ id: wamid(id) }] };
  return Response.json(body);
}

/** Answers in turn, and takes what comes after the last. */
export function inTurn(...answers: Script[]): Script {
  return (call, number) => (answers[number - 1] ?? accept)(call, number);
}

/** Takes a message under an id that the test knows. */
export function acceptAs(id: string, contact: { wa_id?: string; user_id?: string } = {}): Script {
  return ({ to }) => Response.json({ contacts: [{ input: to, ...contact }], messages: [{ id }] });
}

/** A refusal as each network writes it; of Telegram `code` is the HTTP status too. */
export function refuse(
  code: number,
  words = "No",
  { status = 400, parameters, headers = {} }: { status?: number; parameters?: object; headers?: HeadersInit } = {},
): Script {
  return ({ network }) =>
    network === "telegram"
      ? Response.json({ ok: false, error_code: code, description: words, parameters }, { status: code, headers })
      : Response.json({ error: { code, message: words, type: "OAuthException" } }, { status, headers });
}

/** An answer of the network's front, with nothing of the network in it. */
export function status(code: number, headers: HeadersInit = {}): Script {
  return () => new Response("<html>Down</html>", { status: code, headers });
}

/** The request went out, and the connection was lost before an answer came. */
export const lost: Script = () => {
  throw connectionLost();
};

/**
 * A call that hangs until the test lets it go on. The two look at each other from time to time: a promise that one
 * object settles would let another go on in its place.
 */
export function hanging(answer: Script = accept) {
  let isHeld = true;
  let isReached = false;
  const script: Script = async (call, number) => {
    isReached = true;
    while (isHeld) await scheduler.wait(1);
    return answer(call, number);
  };
  const reached = async () => {
    while (!isReached) await scheduler.wait(1);
  };
  const letGo = () => {
    isHeld = false;
  };
  return { script, reached, letGo };
}

/** Meta's id of a message. */
function wamid(number: number | string): string {
  return `wamid.HBgN${number}`;
}

function callOf(url: string, init: RequestInit): NetworkCall {
  const headers = new Headers(init.headers);
  const body = typeof init.body === "string" ? JSON.parse(init.body) : null;
  const telegram = /\/bot([^/]+)\/(.+)$/.exec(url);
  const at = Date.now();
  if (telegram) {
    const [, token = "", method = ""] = telegram;
    const text = body?.text ?? body?.caption ?? "";
    return { network: "telegram", method, token, to: String(body?.chat_id), text, body, headers, url, at };
  }
  const token = headers.get("Authorization")?.slice("Bearer ".length) ?? "";
  const method = url.slice(url.lastIndexOf("/") + 1);
  const text = body?.text?.body ?? body?.[body.type]?.caption ?? "";
  return { network: "whatsapp", method, token, to: body?.to ?? body?.recipient, text, body, headers, url, at };
}
