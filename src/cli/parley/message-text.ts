import type { Columns, Output } from "./output.ts";

/** The fields of a message that its line shows. */
interface Said {
  text?: string;
  content?: string;
  interactive?: { choices?: { title: string; url?: string }[] };
  choice?: object;
  replyTo?: string;
  location?: { latitude: number; longitude: number };
  contacts?: { name: string; phones?: string[] }[];
  sticker?: object;
  author?: { id: string; name: string | null };
  direction?: string;
  origin?: string;
  standby?: boolean;
  referral?: { headline: string | null; url: string | null };
  product?: { productId: string | null };
  voice?: boolean;
  forwarded?: string;
  price?: { category: string; billable: boolean | null };
  reactions?: { by: string; emoji: string }[];
  editedAt?: string;
  deletedAt?: string;
  redactedAt?: string;
}

const ORIGINS: Record<string, string> = {
  app: "(from the app)",
  network: "(from the network's agent)",
  away: "(away)",
};

/** All that a message says, as one text for a terminal. It is not safe to print yet. */
export function messageText(message: object): string {
  const { text, content, interactive, choice, replyTo, location, contacts, reactions = [], ...rest } = message as Said;
  const parts = [
    replyTo === undefined ? "" : `(reply to ${replyTo})`,
    rest.author ? `${rest.author.name ?? rest.author.id}:` : "",
    text ?? content ?? "",
    rest.referral ? `(from ${[rest.referral.headline, rest.referral.url].filter(Boolean).join(" ") || "an ad"})` : "",
    rest.product ? `(about product ${rest.product.productId})` : "",
    ...(interactive?.choices ?? []).map(({ title, url }) => `[${title}${url === undefined ? "" : ` ${url}`}]`),
    choice ? "(tapped)" : "",
    location ? `(at ${location.latitude}, ${location.longitude})` : "",
    ...(contacts ?? []).map(({ name, phones = [] }) => `(${name}: ${phones.join(", ")})`),
    rest.sticker ? "(sticker)" : "",
    rest.origin === undefined ? "" : (ORIGINS[rest.origin] ?? `(from ${rest.origin})`),
    rest.standby ? "(to the network's agent)" : "",
    rest.voice === undefined ? "" : rest.voice ? "(voice note)" : "(sent as audio)",
    rest.forwarded === undefined ? "" : rest.forwarded === "many" ? "(forwarded many times)" : "(forwarded)",
    rest.price ? `(${rest.price.billable === false ? "free" : "price"}: ${rest.price.category})` : "",
    ...reactions.map(({ by, emoji }) => `(${emoji} by ${by === "contact" ? "the contact" : "you"})`),
    rest.editedAt === undefined ? "" : "(edited)",
    rest.deletedAt === undefined ? "" : rest.direction === "OUTBOUND" ? "(deleted)" : "(deleted by the contact)",
    rest.redactedAt === undefined ? "" : "(redacted)",
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** A list of messages as a table, each with all that it says. With --json, the service's answer as it is. */
export function listMessages(out: Output, answer: Record<string, unknown>, columns: Columns): void {
  const messages = (Array.isArray(answer.messages) ? answer.messages : []) as object[];
  const shown = messages.map((message) => ({ ...message, text: messageText(message) }));
  out.list(out.json ? answer : { ...answer, messages: shown }, "messages", columns);
}
