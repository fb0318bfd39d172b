import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as z from "zod/mini";
import { PERMISSIONS } from "../../model/permission.ts";
import { type Demo, demoPath, readDemo, writeDemo } from "../demo-file.ts";
import { createDemoMessages, type DemoCall } from "./demo-messages.ts";
import { createDemoConversations } from "./demo-visitors.ts";

const VISITOR = "demo-visitor";

/** How the demo's web chat looks and speaks. */
const LOOK = {
  title: "Demo lamps",
  greeting: "Hello! Ask us about our lamps, or about an order.",
  accentColor: "#7a3e9d",
  starters: ["Where is my order?", "Do you ship to Portugal?"],
  uploads: "everyone",
  askContact: "afterFirst",
};

const created = z.object({ id: z.string() });
const organizationAnswer = z.object({ organization: created, member: created });
const memberAnswer = z.object({ member: created });
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
  const call = caller(`${base}/admin/v1`, adminToken);
  const owner = { name: "Demo owner" };
  const { organization, member } = await call("/organizations", organizationAnswer, { name: "Demo", owner });
  const of = `/organizations/${organization.id}`;
  await createDemoSettings(call, of);
  const web = { kind: "web", name: "Demo web chat", settings: LOOK };
  const { channel, identitySecret } = await call(`${of}/channels`, channelAnswer, web);
  const contact = { address: VISITOR, name: "Demo visitor" };
  const { chat } = await call(`${of}/chats`, chatAnswer, { channelId: channel.id, contact });
  const { secret } = await call(`${of}/keys`, keyAnswer, { name: "Demo key", permissions: PERMISSIONS });
  const customer = { channelId: channel.id, contact: { address: "demo-customer", name: "Demo customer" } };
  const { chat: web2 } = await call(`${of}/chats`, chatAnswer, customer);
  const telegram = {
    kind: "telegram",
    name: "Demo Telegram",
    credentials: { botToken: "1234567890:Demo-token-that-Telegram-refuses-000" },
  };
  const { channel: bot } = await call(`${of}/channels`, z.object({ channel: created }), telegram);
  const subscriber = { channelId: bot.id, contact: { address: "1", name: "Demo subscriber" } };
  const { chat: other } = await call(`${of}/chats`, chatAnswer, subscriber);
  const client = caller(`${base}/api/v1`, secret);
  await createDemoMessages(client, { web: web2.id, telegram: other.id });
  await createDemoConversations(client, { base, channelId: channel.id, identitySecret }, secret);
  const { member: colleague } = await call(`${of}/members`, memberAnswer, { name: "Demo colleague" });
  await client(`/chats/${web2.id}`, chatAnswer, { assigneeId: colleague.id }, "PATCH");
  const note = { content: "@Demo owner, may this order leave a day late?", mentions: [member.id] };
  await client(`/chats/${web2.id}/notes`, z.object({ note: created }), note);
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

/**
 * Creates a template and a webhook, so that their screens are not empty. The webhook must be disabled before the first
 * chat exists: an event that waits for it would be sent.
 */
async function createDemoSettings(call: DemoCall, of: string): Promise<void> {
  await call(`${of}/templates`, z.object({ template: created }), {
    name: "order_shipped",
    language: "en",
    body: "Hello {{name}}, your order {{order}} has left our shop.",
  });
  const { webhook } = await call(`${of}/webhooks`, z.object({ webhook: created }), {
    url: "https://example.com/parley",
    description: "An example: your own server would be here",
  });
  await call(`/webhooks/${webhook.id}/disable`, z.object({ webhook: created }), {});
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

/** Calls the service with a secret. A call with a body is a POST, unless it says otherwise. */
function caller(base: string, secret: string): DemoCall {
  return async (path, schema, body, method = body ? "POST" : "GET") => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { Authorization: `Bearer ${secret}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json().catch(() => null);
    const read = schema.safeParse(answer);
    if (response.ok && read.success) return read.data;
    throw new Error(
      `${method} ${new URL(base).pathname}${path} answered ${response.status}: ${JSON.stringify(answer)}`,
    );
  };
}
