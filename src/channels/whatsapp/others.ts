import * as z from "zod/mini";
import type { InboundItem } from "../../model/network.ts";
import type { Elsewhere } from "../../model/received.ts";
import { loggable } from "../network/known-fields.ts";
import { lenient, textField } from "../network/lenient.ts";
import { receivedAt, receivedTerm } from "../network/received.ts";
import { fieldAt, listAt } from "./describe.ts";

/**
 * What the company writes elsewhere: in the WhatsApp Business app, and with Meta's own agent. Meta reports both as echoes.
 * They are read like messages from the contact, so they are first brought into that shape: `from` is the contact.
 */

const NUMBER = /^\+?[\d\s()-]{5,40}$/;
const USER_ID = /^[A-Z]{2}\.[\w.]{1,156}$/;
const MEDIA = /^(?:image|video|audio|document|sticker)$/;

/** A message that was written in the app. It has the recipient in place of the sender. */
export function sentInApp(echo: unknown): object {
  const { from: _, to, to_user_id, to_parent_user_id, recipient_type, ...said } = Object(echo);
  return {
    ...said,
    ...recipientOf(to, recipient_type),
    ...(to_user_id !== undefined && { from_user_id: to_user_id }),
    ...(to_parent_user_id !== undefined && { from_parent_user_id: to_parent_user_id }),
  };
}

/** A message of Meta's agent. What it says is the body of a send. */
export function sentByAgent(echo: unknown): object {
  const { id, timestamp, message, template: _, flow: __, ...more } = Object(echo);
  const { to, recipient, recipient_type } = Object(message);
  const quote = fieldAt(message, "context", "message_id");
  return {
    ...more,
    id,
    timestamp,
    ...recipientOf(to ?? recipient, recipient_type),
    ...(quote !== undefined && { context: { id: quote } }),
    ...saidIn(message),
  };
}

/** The contact as a sender. Whatever is neither a number nor a user id is a group. */
function recipientOf(to: unknown, type: unknown): object {
  if (to === undefined && type !== "group") return {};
  if (type !== "group" && typeof to === "string" && NUMBER.test(to)) return { from: to.replace(/\D/g, "") };
  return type !== "group" && typeof to === "string" && USER_ID.test(to)
    ? { from_user_id: to }
    : { group_id: "unknown" };
}

/** What a send says, in the shape of a contact's message. What only sends have becomes text. */
function saidIn(message: unknown): object {
  const type = fieldAt(message, "type") ?? "text";
  if (typeof type !== "string") return { type };
  const part = fieldAt(message, type);
  if (type === "template") return textOf(`[Template] ${receivedTerm(fieldAt(part, "name")) ?? ""}`);
  if (type === "interactive") return textOf(wordsOf(part) || "[Interactive]");
  const link = MEDIA.test(type) ? fieldAt(part, "link") : undefined;
  if (typeof link !== "string") return { type, [type]: part };
  const label = `[${type[0]?.toUpperCase()}${type.slice(1)}]`;
  return textOf([label, fieldAt(part, "caption"), link].filter((each) => typeof each === "string").join(" "));
}

function textOf(text: string): object {
  return { type: "text", text: { body: text.trim() } };
}

/** The text of choices, with a line for each choice. */
function wordsOf(interactive: unknown): string {
  const texts = ["header", "body", "footer"].map((name) => fieldAt(interactive, name, "text"));
  const rows = listAt(interactive, "action", "sections").flatMap((section) => listAt(section, "rows"));
  const titles = [
    ...listAt(interactive, "action", "buttons").map((button) => fieldAt(button, "reply", "title")),
    ...rows.map((row) => fieldAt(row, "title")),
    fieldAt(interactive, "action", "parameters", "display_text"),
  ];
  const choices = titles.map((title) => (typeof title === "string" ? `[${title}]` : undefined));
  return [...texts, ...choices].filter((each) => typeof each === "string").join("\n");
}

/** An item as one of the company's side; null if it says something of the contact alone. */
export function asEcho(item: InboundItem["item"], origin: Elsewhere): InboundItem["item"] | null {
  switch (item.kind) {
    case "message":
      return { ...item, kind: "echo", origin };
    case "reaction":
      return { ...item, isOwn: true };
    case "edit":
    case "revoke":
      return item;
    default:
      return null;
  }
}

const numberId = lenient(z.union([z.pipe(z.int(), z.transform(String)), z.string().check(z.minLength(1))]));
const handover = z.object({
  type: textField,
  timestamp: z.optional(z.unknown()),
  sender: lenient(z.object({ phone_number: textField })),
  recipient: lenient(z.object({ phone_number_id: numberId })),
  control_passed: z.optional(z.unknown()),
});

/**
 * What becomes of a change of the conversation's owner: an item if the company has it now, else the note that it leaves.
 * It names the company's number in another place than other fields do.
 */
export function handoverItem(value: unknown): InboundItem | string {
  const read = handover.safeParse(value).data;
  if (!read) return "handover not understood";
  const { timestamp, sender, recipient, control_passed: passed } = read;
  const type = read.type ?? (passed === undefined ? "without a type" : "control_passed");
  if (type !== "control_passed" || fieldAt(passed, "new_owner_role") === "ai_agent") {
    return `handover ${loggable(type)} ignored`;
  }
  const account = recipient?.phone_number_id;
  const number = sender?.phone_number ?? "";
  if (account === undefined || !NUMBER.test(number)) return "handover without a number";
  return { account, item: { kind: "control", address: number.replace(/\D/g, ""), at: receivedAt(timestamp) } };
}
