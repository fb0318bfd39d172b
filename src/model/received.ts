/**
 * What a network reports of a message besides its text and its media. Each field is absent if the network does not say
 * it; null inside a field means the same.
 */

/** The answers of a form. They are the contact's words, and a forged app can send any. */
export interface Form {
  /** The form's kind, such as `flow`. Networks don't say which form it is: that is the message that it replies to. */
  name: string | null;
  /** JSON; `{ text }` if the network's own text is not a JSON object. */
  answers: Record<string, unknown>;
  cut?: true | undefined;
}

export interface Order {
  catalogId: string | null;
  /** `price` is a decimal number as text. */
  items: { productId: string | null; quantity: number | null; price: string | null; currency: string | null }[];
  cut?: true | undefined;
}

/** The product of a catalog that a message is about. */
export interface Product {
  catalogId: string | null;
  productId: string | null;
  cut?: true | undefined;
}

/** The ad or the post that led the contact to the chat. */
export interface Referral {
  type: string | null;
  id: string | null;
  url: string | null;
  headline: string | null;
  text: string | null;
  clickId: string | null;
  ref: string | null;
  cut?: true | undefined;
}

export const SUBMISSIONS = ["web_app", "payment", "users", "chat"] as const;

/** What the contact's app handed over. `data` is JSON with the network's own names. */
export interface Submission {
  kind: (typeof SUBMISSIONS)[number];
  data: Record<string, unknown>;
  cut?: true | undefined;
}

/** Who wrote in a group. */
export interface Author {
  id: string;
  name: string | null;
  cut?: true | undefined;
}

export const FORWARDED = ["once", "many"] as const;

/** Where the company wrote a message elsewhere: in the network's app for companies, or with the network's own agent. */
export type Elsewhere = "app" | "network";
/** What a message to the contact came from, if no client sent it. `away`: the channel answered outside of its hours. */
export const ORIGINS = ["app", "network", "away"] as const satisfies readonly (Elsewhere | "away")[];
export type Origin = (typeof ORIGINS)[number];

/** What the network charges for a message. */
export interface Price {
  category: string;
  type: string | null;
  billable: boolean | null;
}

/** The count of messages whose price has a category. */
export type PriceCount = `price.${string}`;

/** Meta's categories. A count has no other names, because a network can send any. */
const PRICED =
  /^(?:group_)?(?:marketing(?:_lite)?|utility|service|authentication(?:-international)?|referral_conversion)$/;

export function priceCount({ category }: Price): PriceCount {
  return `price.${PRICED.test(category) ? category : "other"}`;
}

/** What a message says in these fields. A redaction blanks it, as it blanks `content`. */
export interface ReceivedWords {
  form?: Form | undefined;
  order?: Order | undefined;
  product?: Product | undefined;
  referral?: Referral | undefined;
  submitted?: Submission | undefined;
  author?: Author | undefined;
}

/** What holds of a message whatever it says. */
export interface ReceivedMarks {
  /** False if a message was to be a voice note and its file can't be one. */
  voice?: boolean | undefined;
  forwarded?: (typeof FORWARDED)[number] | undefined;
  /** When it was sent, as the network says: RFC 3339. Messages are never ordered by it. */
  networkTime?: string | undefined;
  /** The contact wrote it while the network's own agent had the conversation. It asks for no answer until that gives it back. */
  standby?: true | undefined;
}

/** The names of the words' fields. */
export const WORDS = ["form", "order", "product", "referral", "submitted", "author"] as const;

/** The size of such a field as JSON, in bytes of UTF-8. */
export const MAX_FIELD_BYTES = 8_192;
/** Of that, for the names of its own fields and for `cut`. */
const NAMES_BYTES = 256;
const MAX_DEPTH = 8;

interface Room {
  /** Bytes. */
  left: number;
  isCut: boolean;
}

/**
 * A copy of a field within its size. What is too long ends with the last list or text that fits, and `cut` says so. So
 * does a value that is nested too deep, which becomes null.
 */
export function cutField<Field extends object>(field: Field): Field {
  const room: Room = { left: MAX_FIELD_BYTES - NAMES_BYTES, isCut: false };
  const copy = Object.entries(field).map(([name, value]) => [name, copyOf(value, room, 0)]);
  return Object.fromEntries(room.isCut ? [...copy, ["cut", true]] : copy) as Field;
}

function copyOf(value: unknown, room: Room, depth: number): unknown {
  if (typeof value === "string") return cutText(value, room);
  if (typeof value !== "object" || value === null) {
    room.left -= String(value).length;
    return value;
  }
  if (depth > MAX_DEPTH) {
    room.isCut = true;
    return null;
  }
  room.left -= 2;
  const isList = Array.isArray(value);
  const pairs: [string, unknown][] = [];
  for (const [name, each] of Object.entries(value)) {
    room.left -= isList ? 1 : bytesOf(name) + 2;
    const item = room.left > 0 ? copyOf(each, room, depth + 1) : null;
    // Half a text says something, and half a thing something else.
    if (room.left <= 0) room.isCut = true;
    if (room.left > 0 || (typeof item === "string" && item !== "")) pairs.push([name.toWellFormed(), item]);
    if (room.left <= 0) break;
  }
  // Not by assignment: a contact may name a field `__proto__`.
  return isList ? pairs.map(([, item]) => item) : Object.fromEntries(pairs);
}

function cutText(text: string, room: Room): string {
  let kept = text.slice(0, Math.max(0, room.left)).toWellFormed();
  let bytes = bytesOf(kept);
  while (bytes > room.left && kept !== "") {
    kept = kept.slice(0, Math.floor((kept.length * room.left) / bytes)).toWellFormed();
    bytes = bytesOf(kept);
  }
  room.left -= bytes;
  if (kept.length < text.length) Object.assign(room, { left: 0, isCut: true });
  return kept;
}

/** The size of a text as JSON. */
function bytesOf(text: string): number {
  return new TextEncoder().encode(JSON.stringify(text)).length;
}
