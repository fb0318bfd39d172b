import { expect } from "vitest";
import { whatsapp } from "../../../../src/channels/whatsapp/adapter.ts";
import type { ParsedWebhook } from "../../../../src/model/network.ts";
import { callOf, credentials, signatureOf, webhook } from "./network.ts";

type Genuine = Extract<ParsedWebhook, { genuine: true }>;

export const PHONE = "4915112345678";
export const USER = "DE.1349120865530274";

/** What a genuine webhook with this body holds. */
export async function receive(body: string): Promise<Genuine> {
  const receipt = await whatsapp.receive(webhook(body, await signatureOf(body)), credentials, "");
  if (!receipt.genuine) throw new Error("the webhook is not genuine");
  return receipt;
}

/** The one item that a value of a webhook makes. */
export async function itemOf(value: object) {
  const { items, notes } = await receive(callOf(value));
  expect(notes).toEqual([]);
  expect(items).toHaveLength(1);
  return items[0]?.item;
}

/** A message as Meta sends it; `fields` are those of its type, and whatever else differs. */
export function came(fields: object): object {
  return { from: PHONE, id: "wamid.1", timestamp: "1700000000", ...fields };
}

/** A status as Meta sends it. */
export function status(fields: object = {}): object {
  return { id: "wamid.9", status: "delivered", timestamp: "1700000000", recipient_id: PHONE, ...fields };
}
