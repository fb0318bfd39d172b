import { createHmac } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { CommandError, reasonOf } from "./command-error.ts";

// The ids and the key end in lines for a shell: nothing else may stand in them, whoever wrote the file.
const demoSchema = z.object({
  organizationId: z.string().check(z.regex(/^org_\w+$/)),
  channelId: z.string().check(z.regex(/^chn_\w+$/)),
  chatId: z.string().check(z.regex(/^cht_\w+$/)),
  key: z.string().check(z.regex(/^ply_\w+$/)),
  /** Vouches for the demo's visitor, as the site that embeds a chat vouches for its users. */
  visitorHash: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
});

export type Demo = z.output<typeof demoSchema>;

const VISITOR = "demo-visitor";

const created = z.object({ id: z.string() });
const organizationAnswer = z.object({ organization: created });
const channelAnswer = z.object({ channel: created, identitySecret: z.string() });
const chatAnswer = z.object({ chat: created });
const keyAnswer = z.object({ secret: z.string() });

/** Where a demo is remembered: beside the data that it belongs to. */
export function demoPath(state: string): string {
  return join(state, "parley-demo.json");
}

/** The demo of an earlier start, or why there is none to go on with; `whyNot` is null where nothing tells of one. */
export async function keptDemo(
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
  // Over its limit for a minute, it is a demo that works all the same.
  if (response.ok || response.status === 429) return { demo };
  if (response.status >= 500) throw new Error(`the demo's chat answered ${response.status}`);
  if (response.status === 404) return { demo: null, whyNot: "its chat was erased" };
  return { demo: null, whyNot: "its key is refused; that is so of all keys if KEY_SECRET was changed" };
}

/** A new organization with a web channel, one chat in it and an API key, made through the operator API and remembered. */
export async function makeDemo(base: string, state: string, adminToken: string): Promise<Demo> {
  const post = operator(base, adminToken);
  const owner = { name: "Demo owner" };
  const { organization } = await post("/organizations", { name: "Demo", owner }, organizationAnswer);
  const of = `/organizations/${organization.id}`;
  const web = { kind: "web", name: "Demo web chat" };
  const { channel, identitySecret } = await post(`${of}/channels`, web, channelAnswer);
  const contact = { address: VISITOR, name: "Demo visitor" };
  const { chat } = await post(`${of}/chats`, { channelId: channel.id, contact }, chatAnswer);
  const { secret } = await post(`${of}/keys`, { name: "Demo key" }, keyAnswer);
  const demo = {
    organizationId: organization.id,
    channelId: channel.id,
    chatId: chat.id,
    key: secret,
    visitorHash: createHmac("sha256", identitySecret).update(VISITOR).digest("hex"),
  };
  await writeDemo(state, demoSchema.parse(demo));
  return demo;
}

/** A demo as it stands in its file, or null when that is damaged. */
export function readDemo(text: string): Demo | null {
  try {
    return demoSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Lines for a POSIX shell: one that lists the demo's messages, one that sends. */
export function curlLines(base: string, demo: Demo): { list: string; send: string } {
  const authorization = `-H 'Authorization: Bearer ${demo.key}'`;
  const url = `'${messagesUrl(base, demo)}'`;
  return {
    list: `curl ${authorization} ${url}`,
    send: `curl ${authorization} -d '{"content":"Hello from Parley"}' ${url}`,
  };
}

/** The address of the demo's web chat, or null where the server has no page for it. */
export async function webChatUrl(base: string, demo: Demo): Promise<string | null> {
  const url = `${base}/web/${demo.channelId}`;
  const response = await fetch(url);
  await response.arrayBuffer();
  // The fragment makes the page's visitor the one whose chat the lines for the shell speak of.
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

/** Written beside and renamed, so that a kill leaves the old file or the new one. */
async function writeDemo(state: string, demo: Demo): Promise<void> {
  const path = demoPath(state);
  const unfinished = `${path}.${process.pid}`;
  try {
    await rm(unfinished, { force: true });
    await writeFile(unfinished, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
    await rename(unfinished, path);
  } catch (error) {
    throw new CommandError(`${path} can't be written: ${reasonOf(error)}.`);
  }
}
