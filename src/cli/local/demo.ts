import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as z from "zod/mini";
import { PERMISSIONS } from "../../keys/permissions.ts";
import { type Demo, demoPath, readDemo, writeDemo } from "../demo-file.ts";

const VISITOR = "demo-visitor";

const created = z.object({ id: z.string() });
const organizationAnswer = z.object({ organization: created });
const channelAnswer = z.object({ channel: created, identitySecret: z.string() });
const chatAnswer = z.object({ chat: created });
const keyAnswer = z.object({ secret: z.string() });

/**
 * Finds the demo of an earlier start and checks that it still works.
 * @returns `demo: null` if there is none, with the reason in `whyNot` if there was one
 * @throws Error if the server fails
 */
export async function findDemo(
  base: string,
  state: string,
): Promise<{ demo: Demo } | { demo: null; whyNot: string | null }> {
  const text = await readFile(demoPath(state), "utf8").catch(() => null);
  const demo = readDemo(text ?? "");
  if (!demo) return { demo, whyNot: text === null ? null : "its file is damaged" };
  const response = await fetch(`${messagesUrl(base, demo)}?limit=1`, {
    headers: { Authorization: `Bearer ${demo.key}` },
  });
  await response.arrayBuffer();
  // A key that is over its limit works again in a minute.
  if (response.ok || response.status === 429) return { demo };
  if (response.status >= 500) throw new Error(`the demo's chat answered ${response.status}`);
  if (response.status === 404) return { demo: null, whyNot: "its chat was deleted" };
  return { demo: null, whyNot: "its key is refused (if KEY_SECRET was changed, all older keys are)" };
}

/** Creates an organization with a web channel, a chat and an API key through the operator's API, and stores it. */
export async function createDemo(base: string, state: string, adminToken: string): Promise<Demo> {
  const post = operator(base, adminToken);
  const owner = { name: "Demo owner" };
  const { organization } = await post("/organizations", { name: "Demo", owner }, organizationAnswer);
  const of = `/organizations/${organization.id}`;
  const web = { kind: "web", name: "Demo web chat" };
  const { channel, identitySecret } = await post(`${of}/channels`, web, channelAnswer);
  const contact = { address: VISITOR, name: "Demo visitor" };
  const { chat } = await post(`${of}/chats`, { channelId: channel.id, contact }, chatAnswer);
  const { secret } = await post(`${of}/keys`, { name: "Demo key", permissions: PERMISSIONS }, keyAnswer);
  const demo = {
    organizationId: organization.id,
    channelId: channel.id,
    chatId: chat.id,
    key: secret,
    visitorHash: createHmac("sha256", identitySecret).update(VISITOR).digest("hex"),
  };
  await writeDemo(state, demo);
  return demo;
}

/** Commands for a POSIX shell that send a message in the demo's chat and list its messages. */
export function curlLines(base: string, demo: Demo): { send: string; list: string } {
  const list = `curl '${messagesUrl(base, demo)}' -H 'Authorization: Bearer ${demo.key}'`;
  return { send: `${list} -d '{"content":"Hello from Parley"}'`, list };
}

/** The address of the demo's web chat, or null if the server doesn't have the page. */
export async function webChatUrl(base: string, demo: Demo): Promise<string | null> {
  const url = `${base}/web/${demo.channelId}`;
  const response = await fetch(url);
  await response.arrayBuffer();
  // The fragment identifies the visitor, so that the page shows the same chat as the curl lines.
  return response.status === 200 ? `${url}#user=${VISITOR}&hash=${demo.visitorHash}` : null;
}

function messagesUrl(base: string, demo: Demo): string {
  return `${base}/api/v1/chats/${demo.chatId}/messages`;
}

function operator(base: string, adminToken: string) {
  return async function post<T>(path: string, body: object, schema: z.ZodMiniType<T>): Promise<T> {
    const response = await fetch(`${base}/admin/v1${path}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${adminToken}` },
      body: JSON.stringify(body),
    });
    const answer: unknown = await response.json().catch(() => null);
    const read = schema.safeParse(answer);
    if (response.ok && read.success) return read.data;
    throw new Error(`POST /admin/v1${path} answered ${response.status}: ${JSON.stringify(answer)}`);
  };
}
