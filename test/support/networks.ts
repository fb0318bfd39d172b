import { vi } from "vitest";
import { connectionLost, withoutProof } from "../unit/channels/fake-network.ts";
import { isOfEarlierTest } from "./running-test.ts";
import { gate } from "./until.ts";

/** A call that reached a network. */
export interface NetworkCall {
  network: "telegram" | "whatsapp";
  /** `sendMessage` and so on, or a file's path; `messages`, or a media id. */
  method: string;
  /** The secret of the call. */
  token: string;
  /** The chat or number. */
  to: string;
  /** The text that the contact would read. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the type of its body
  body: any;
  /** The file of a form. */
  file: { field: string; name: string; type: string; sha256: string } | null;
  headers: Headers;
  url: string;
  /** When the call arrived, by the test's clock. */
  at: number;
}

/** A network's response to a call. If it throws, the connection was lost. */
export type Script = (call: NetworkCall, number: number) => Response | Promise<Response>;

/**
 * Replaces `fetch` with both networks for this test. `script` responds, and the calls are recorded in order. The Worker
 * and the objects run in the test's isolate, so they use the same `fetch`.
 */
export function fakeNetworks(script: Script = accept): NetworkCall[] {
  const calls: NetworkCall[] = [];
  vi.stubGlobal("fetch", async (input: string, init: RequestInit = {}) => {
    const call = await callOf(input, init);
    if (isOfEarlierTest(call.to)) return accept(call);
    calls.push(call);
    return script(call, calls.length);
  });
  return calls;
}

let sent = 1_000;

/** Accepts every message, each with a new id. */
export function accept({ network, method, to }: NetworkCall): Response {
  const id = ++sent;
  if (network === "whatsapp" && method === "media") return Response.json({ id: String(id) });
  if (network === "telegram") return Response.json({ ok: true, result: { message_id: id, chat: { id: to } } });
  const body = { messaging_product: "whatsapp", contacts: [{ input: to, wa_id: to }], messages: [{ id: wamid(id) }] };
  return Response.json(body);
}

/** Responds with these in turn, and accepts everything after the last. */
export function inTurn(...answers: Script[]): Script {
  return (call, number) => (answers[number - 1] ?? accept)(call, number);
}

/** Accepts a message with an id that the test knows. */
export function acceptAs(id: string, contact: { wa_id?: string; user_id?: string } = {}): Script {
  return ({ to }) => Response.json({ contacts: [{ input: to, ...contact }], messages: [{ id }] });
}

/** A refusal in each network's form. For Telegram, `code` is also the HTTP status. */
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

/** A response from the network's proxy, without the network's own format. */
export function status(code: number, headers: HeadersInit = {}): Script {
  return () => new Response("<html>Down</html>", { status: code, headers });
}

/** The connection was lost after the request and before the response. */
export const lost: Script = () => {
  throw connectionLost();
};

/** A call that hangs until the test releases it. If it never does, the connection is lost at the test's end. */
export function hanging(answer: Script = accept) {
  const { pass, open, reached } = gate("the call to the network");
  const script: Script = async (call, number) => {
    await pass();
    return answer(call, number);
  };
  return { script, reached, letGo: open };
}

/** Meta's id of a message. */
function wamid(number: number | string): string {
  return `wamid.HBgN${number}`;
}

async function callOf(url: string, init: RequestInit): Promise<NetworkCall> {
  const headers = new Headers(init.headers);
  const { body, file } =
    typeof init.body === "string" ? { body: JSON.parse(init.body), file: null } : await formOf(init.body, headers);
  const telegram = /\/bot([^/]+)\/(.+)$/.exec(url);
  const at = Date.now();
  if (telegram) {
    const [, token = "", method = ""] = telegram;
    const text = body?.text ?? body?.caption ?? "";
    return { network: "telegram", method, token, to: String(body?.chat_id), text, body, file, headers, url, at };
  }
  const token = headers.get("Authorization")?.slice("Bearer ".length) ?? "";
  const method = withoutProof(url).slice(url.lastIndexOf("/") + 1);
  const text = body?.text?.body ?? body?.[body.type]?.caption ?? "";
  return { network: "whatsapp", method, token, to: body?.to ?? body?.recipient, text, body, file, headers, url, at };
}

/** A form that was read to its end, as a network does before it answers; without one, nothing. */
async function formOf(form: RequestInit["body"], headers: Headers): Promise<Pick<NetworkCall, "body" | "file">> {
  if (!(form instanceof ReadableStream)) return { body: null, file: null };
  const body: Record<string, string> = {};
  let file: NetworkCall["file"] = null;
  for (const [field, value] of await new Response(form, { headers }).formData()) {
    if (typeof value === "string") body[field] = value;
    else {
      const digest = await crypto.subtle.digest("SHA-256", await value.arrayBuffer());
      file = { field, name: value.name, type: value.type, sha256: new Uint8Array(digest).toHex() };
    }
  }
  return { body, file };
}
