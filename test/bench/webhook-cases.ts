import { createHmac } from "node:crypto";
import { CREDENTIALS, createChannel, createOrganization } from "../support/world/factories.ts";
import { type Case, eachOnce, parley, unique } from "./cases.ts";
import { ONE_WRITE } from "./floor-cases.ts";
import { post } from "./request.ts";

const { phoneNumberId, appSecret } = CREDENTIALS.whatsapp;
const CONTACT = "491512345678";

export const WEBHOOKS: Case[] = [
  parley("inbound WhatsApp webhook", { floor: ONE_WRITE }, async (place) => {
    const channel = await createChannel(await createOrganization(place), { kind: "whatsapp" });
    return eachOnce(() => signed(`/hooks/whatsapp/${channel.id}`, inbound()), 200);
  }),
];

function signed(path: string, body: string): string {
  const signature = createHmac("sha256", appSecret).update(body).digest("hex");
  return post(path, body, { "X-Hub-Signature-256": `sha256=${signature}` });
}

/** A webhook of Meta with a new text message of a known contact. */
function inbound(): string {
  const message = { from: CONTACT, id: `wamid.${unique()}`, timestamp: "1790000000", type: "text" };
  const value = {
    messaging_product: "whatsapp",
    metadata: { display_phone_number: phoneNumberId, phone_number_id: phoneNumberId },
    contacts: [{ profile: { name: "Ada" }, wa_id: CONTACT }],
    messages: [{ ...message, text: { body: "Where is my order?" } }],
  };
  const entry = [{ id: "1", changes: [{ field: "messages", value }] }];
  return JSON.stringify({ object: "whatsapp_business_account", entry });
}
