import { createHmac } from "node:crypto";
import * as z from "zod/mini";
import { type DemoFile, lampPicture, offerDocument, uploadDemoFile } from "./demo-files.ts";
import type { DemoCall } from "./demo-messages.ts";

/** The demo's web chat. */
export interface DemoSite {
  base: string;
  channelId: string;
  identitySecret: string;
}

const ANSWER_MS = 10_000;

const stored = z.object({ type: z.literal("stored"), id: z.string() });
const shown = z.object({ type: z.literal("status"), seq: z.number(), status: z.literal("READ") });
const chatAnswer = z.object({ chat: z.object({ id: z.string() }) });
const messageAnswer = z.object({ message: z.object({ seq: z.number() }) });

/**
 * Creates conversations with visitors of the web chat: one that waits for an answer, and one that was answered and read.
 * @param call calls the public API
 * @param key an API key, which uploads a file
 */
export async function createDemoConversations(call: DemoCall, site: DemoSite, key: string): Promise<void> {
  const read = await meet(call, site, "demo-ana", "Ana Ruiz");
  // One message: a visitor can write one a second.
  await read.sends("Hello! Do you have a lamp like this one, and do you ship to Portugal?", lampPicture());
  await call(`/chats/${read.chatId}/messages`, messageAnswer, {
    content: "Yes. Here is our offer.",
    mediaId: (await uploadDemoFile(`${site.base}/api/v1/chats/${read.chatId}/media`, key, offerDocument())).id,
  });
  const answer = await call(`/chats/${read.chatId}/messages`, messageAnswer, {
    content: "Yes, in three to five days. Shipping is free from 50 euros.",
  });
  await read.reads(answer.message.seq);
  const waiting = await meet(call, site, "demo-maya", "Maya Okafor");
  await waiting.writes("Hi, I ordered a lamp last week. Where is it? The number is 4711.");
}

interface Visitor {
  chatId: string;
  writes(text: string): Promise<void>;
  sends(text: string, file: DemoFile): Promise<void>;
  /** Shows the messages up to this `seq`, as the chat page does. */
  reads(seq: number): Promise<void>;
}

/** A visitor whom the site signed in, as the chat page would be. */
async function meet(call: DemoCall, site: DemoSite, user: string, name: string): Promise<Visitor> {
  const contact = { address: user, name };
  const { chat } = await call("/chats", chatAnswer, { channelId: site.channelId, contact });
  const say = (message: object) => {
    const id = crypto.randomUUID();
    return withSocket(
      site,
      user,
      { type: "message", id, ...message },
      (frame) => stored.safeParse(frame).data?.id === id,
    );
  };
  return {
    chatId: chat.id,
    writes: (content) => say({ content }),
    async sends(content, file) {
      const identity = identityOf(site, user);
      const { id } = await uploadDemoFile(`${site.base}/web/${site.channelId}/media`, identity, file);
      await say({ content, mediaId: id });
    },
    reads: (seq) => withSocket(site, user, { type: "read", seq }, (frame) => shown.safeParse(frame).data?.seq === seq),
  };
}

/** What the site gives the visitor's page to prove who the visitor is. */
function identityOf({ identitySecret }: DemoSite, user: string): string {
  const hash = createHmac("sha256", identitySecret).update(user).digest("hex");
  return `user.${Buffer.from(user).toString("base64url")}.${hash}`;
}

/** Opens the visitor's socket, sends a frame, and waits for an answer. @throws Error if it does not come */
function withSocket(site: DemoSite, user: string, frame: object, isAnswer: (frame: unknown) => boolean): Promise<void> {
  const url = `${site.base.replace(/^http/, "ws")}/web/${site.channelId}/socket?after=0`;
  const socket = new WebSocket(url, ["parley.v1", identityOf(site, user)]);
  return new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("The web chat did not answer")), ANSWER_MS);
    socket.addEventListener("error", () => reject(new Error("The web chat can't be reached")));
    socket.addEventListener("close", () => reject(new Error("The web chat closed the connection")));
    socket.addEventListener("message", ({ data }) => {
      const received: unknown = JSON.parse(String(data));
      if (z.object({ type: z.literal("ready") }).safeParse(received).success) socket.send(JSON.stringify(frame));
      else if (!isAnswer(received)) return;
      else {
        clearTimeout(timer);
        resolve();
      }
    });
  }).finally(() => socket.close());
}
