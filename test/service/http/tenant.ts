import { PERMISSIONS } from "../../../src/model/permission.ts";
import {
  type Client,
  client,
  created,
  newChat,
  newKey,
  newOrganization,
  newTemplate,
  send,
} from "../../support/harness.ts";

/** An organization with one of each resource that a client can name. */
export interface Tenant {
  api: Client;
  organizationId: string;
  channel: string;
  /** A chat with messages, and a chat without any. */
  chat: string;
  coldChat: string;
  message: string;
  note: string;
  label: string;
  sender: string;
  template: string;
  /** A file that no message sends yet. */
  media: string;
  address: string;
  /** The key of `api`. */
  key: string;
}

/** The headers of an upload of `{}`. */
export const UPLOAD = { "Content-Type": "application/octet-stream", "Content-Length": "2" };

export const IDEMPOTENCY = { "Idempotency-Key": "order-7" };

export async function newTenant(): Promise<Tenant> {
  const { organizationId, ownerId, channelId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, { permissions: [...PERMISSIONS] });
  const api = client(secret);
  const chat = await newChat(api, channelId);
  const first = await api("POST", `/chats/${chat.id}/messages`, { content: "Hello" }, IDEMPOTENCY);
  await send(api, chat.id, { content: "Hello again" });
  return {
    api,
    organizationId,
    channel: channelId,
    chat: chat.id,
    coldChat: (await newChat(api, channelId)).id,
    message: first.body.message.id,
    note: created(await api("POST", `/chats/${chat.id}/notes`, { content: "Hello" })).note.id,
    label: await labelOf(api, chat.id),
    sender: ownerId,
    template: await newTemplate(organizationId, "Hi {{name}}"),
    media: (await api("POST", `/chats/${chat.id}/media`, {}, UPLOAD)).body.media.id,
    address: chat.contact.address,
    key: key.id,
  };
}

/** A label that the chat has; its id. */
async function labelOf(api: Client, chatId: string): Promise<string> {
  const { label } = created(await api("POST", "/labels", { name: "Refund" }));
  await api("PUT", `/chats/${chatId}/labels/${label.id}`);
  return label.id;
}
