import { env } from "cloudflare:workers";
import { newId } from "../../../src/model/id.ts";
import type { Message } from "../../../src/model/message.ts";
import { runAlarm } from "../../support/alarms.ts";
import { asOwner } from "../../support/as-owner.ts";

/** The contact of a chat writes a message. */
export async function writeAsContact(organizationId: string, chatId: string, content = "Hi"): Promise<Message> {
  const id = newId("msg", null);
  const draft = { id, dedupe: id, type: "TEXT", content, media: null, origin: null, addresses: [] } as const;
  const answer = await env.CHATS.getByName(chatId).receive(asOwner(organizationId), { ...draft, addresses: [] });
  if (answer.outcome !== "stored") throw new Error(answer.outcome);
  return JSON.parse(answer.doc) as Message;
}

/** Makes a chat report its state now. */
export async function report(chatId: string): Promise<void> {
  await runAlarm(env.CHATS.getByName(chatId));
}
