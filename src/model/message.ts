import * as z from "zod/mini";
import {
  type ContactCard,
  type Interactive,
  type Location,
  MESSAGE_TYPES,
  type MessageType,
  type Metadata,
} from "./content.ts";
import { choicesBody, combinationFaults, contactsBody, type DraftExtra, locationBody } from "./content-schema.ts";
import type { Fault } from "./error.ts";
import {
  atMost,
  bodyId,
  httpsUrl,
  instant,
  noProto,
  notBlank,
  notEmpty,
  optional,
  variablesBody,
  wellFormed,
} from "./field.ts";
import type { Variables } from "./placeholder.ts";
import type { Origin, Price, ReceivedMarks, ReceivedWords } from "./received.ts";
import type { TemplateParts } from "./template.ts";
import { templatePartsBody } from "./template-schema.ts";

export const MAX_CONTENT = 4_096;
export const MAX_PAIRS = 20;
export const MAX_KEY = 40;
export const MAX_VALUE = 500;
/** The size of metadata as JSON, in bytes of UTF-8. All organizations share one directory of 10 GB. */
export const MAX_METADATA_BYTES = 4_096;

export const DIRECTIONS = ["OUTBOUND", "INBOUND"] as const;
export type Direction = (typeof DIRECTIONS)[number];

export const MESSAGE_STATUSES = [
  "SCHEDULED",
  "QUEUED",
  "SENT",
  "DELIVERED",
  "READ",
  "FAILED",
  "CANCELED",
  "RECEIVED",
] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

/** A message as its chat stores it, in the API's order of fields. */
export interface Message extends ReceivedWords, ReceivedMarks {
  id: string;
  chatId: string;
  /** 1, 2, 3 … in the chat, without a gap. */
  seq: number;
  direction: (typeof DIRECTIONS)[number];
  type: MessageType;
  content: string;
  mediaUrl: string | null;
  /** Null if no member of the organization wrote the message. */
  senderId: string | null;
  templateId: string | null;
  variables: Variables | null;
  /** The delivered text: the filled template, or `content` without a template. */
  text: string;
  status: MessageStatus;
  error: { code: string; message: string } | null;
  metadata: Metadata;
  createdAt: string;
  updatedAt: string;
  /** When it got each status; absent if it did not. */
  sentAt?: string | undefined;
  deliveredAt?: string | undefined;
  readAt?: string | undefined;
  failedAt?: string | undefined;
  /** When a client wanted it to be sent; absent for at once. */
  scheduledAt?: string | undefined;
  /** From then on no attempt begins; absent for never. */
  expiresAt?: string | undefined;
  /** The id of the failed message that this one repeats; absent if it repeats none. */
  resendOf?: string | undefined;
  /** Absent if a client sent it, or the contact wrote it. */
  origin?: Origin | undefined;
  /** Who wrote it, as a web chat's visitor sees it: the member's name at that time, if the send named its sender. */
  sender?: { name: string } | undefined;
  /** The id of the message of this chat that it replies to. */
  replyTo?: string | undefined;
  interactive?: Interactive | undefined;
  location?: Location | undefined;
  contacts?: ContactCard[] | undefined;
  /** The values for the template's header and buttons. */
  template?: TemplateParts | undefined;
  /** What the media is, as far as it is known. */
  media?: ShownMedia | undefined;
  /** The choice that the contact tapped. */
  choice?: TappedChoice | undefined;
  /** Set if the media is a sticker. */
  sticker?: { emoji: string | null } | undefined;
  /** What the network charges for it; absent if it has not said so. */
  price?: Price | undefined;
  /** At most one of each side; absent if there is none. */
  reactions?: Reaction[] | undefined;
  /** When its writer last changed it. */
  editedAt?: string | undefined;
  /** When its writer deleted it. Then it is blank. */
  deletedAt?: string | undefined;
  /** When it was redacted. Then it is blank. */
  redactedAt?: string | undefined;
}

/** A tapped choice. `id` is null if the message with the choice is blank or gone, or the tap is forged. */
export interface TappedChoice {
  id: string | null;
  title: string;
  /** Null if the chat does not have the message. */
  messageId: string | null;
}

/** Media as the API shows it. `size` is in bytes, and the sides are in pixels. */
export interface ShownMedia {
  contentType: string;
  size?: number | undefined;
  fileName?: string | undefined;
  width?: number | undefined;
  height?: number | undefined;
}

export interface Reaction {
  by: "contact" | "organization";
  emoji: string;
  at: string;
}

/** A message without a place in the chat: it is scheduled, or it ended before it got one. */
export type MessageWithoutSeq = Omit<Message, "seq"> & { seq: null };

/** A message as the API shows it. */
export type ShownMessage = Omit<Message, "seq"> & { seq: number | null };

/** When a message expires, in Unix milliseconds; null for never. */
export function expiryOf({ expiresAt }: Pick<Message, "expiresAt">): number | null {
  return expiresAt === undefined ? null : Date.parse(expiresAt);
}

const metadataKey = z.string().check(notEmpty, ...atMost(MAX_KEY));
const metadataValue = z.string("must be a string").check(wellFormed, ...atMost(MAX_VALUE));
const keyError = ({ code }: { code?: string }) =>
  code === "invalid_key" ? `must have a key of 1 to ${MAX_KEY} characters` : undefined;

const pairs = z.record(metadataKey, metadataValue, { error: keyError }).check(
  z.refine((value) => Object.keys(value).every((key) => key.isWellFormed()), "must have keys of well-formed Unicode"),
  z.refine((value) => Object.keys(value).length <= MAX_PAIRS, {
    error: `must have at most ${MAX_PAIRS} pairs`,
    abort: true,
  }),
  z.refine(
    (value) => new TextEncoder().encode(JSON.stringify(value)).length <= MAX_METADATA_BYTES,
    `must have at most ${MAX_METADATA_BYTES} bytes as JSON`,
  ),
);

/**
 * The client's own pairs: at most 20 and 4 KiB as JSON, keys of 1 to 40 characters, values up to 500; `{}` if absent.
 */
export const metadata = z.pipe(
  optional(z.pipe(z.unknown().check(noProto), pairs)),
  z.transform((value): Metadata => value ?? {}),
);

/** A change of metadata, as in RFC 7396: a value that is null removes its pair. Null removes all pairs. */
export const metadataPatch = z.nullish(
  z.pipe(z.unknown().check(noProto), z.record(metadataKey, z.nullable(metadataValue), { error: keyError })),
);

/** Metadata after a change, or why the result is not valid. */
export function mergedMetadata(
  before: Metadata,
  patch: z.output<typeof metadataPatch>,
): { metadata: Metadata; faults?: undefined } | { faults: Fault[] } {
  if (patch === undefined) return { metadata: before };
  const pairsOf = Object.entries(patch === null ? {} : { ...before, ...patch });
  const merged = metadata.safeParse(Object.fromEntries(pairsOf.filter(([, value]) => value !== null)));
  if (merged.success) return { metadata: merged.data };
  return { faults: merged.error.issues.map(({ message }) => ({ path: "metadata", message })) };
}

/** A request's condition: the newest message of the chat has this seq. */
export const ifSeqField = optional(z.int().check(z.gte(0)));

/** What must hold for a message to be stored. */
const conditions = {
  ifSeq: ifSeqField,
  ifOpen: optional(z.boolean()),
};

/** The fields of a send, each checked separately. `sendBody` checks their combination. */
const sendFields = z.object({
  content: z.string().check(notBlank, wellFormed, ...atMost(MAX_CONTENT)),
  type: optional(z.enum(MESSAGE_TYPES)),
  senderId: optional(bodyId),
  templateId: optional(bodyId),
  variables: optional(variablesBody),
  mediaUrl: optional(httpsUrl),
  mediaId: optional(bodyId),
  metadata,
  scheduledAt: optional(instant),
  expiresAt: optional(instant),
  ...conditions,
  interactive: optional(choicesBody),
  location: optional(locationBody),
  contacts: optional(contactsBody),
  replyTo: optional(bodyId),
  draftId: optional(bodyId),
  template: optional(templatePartsBody),
  voice: z.pipe(
    optional(z.boolean()),
    z.transform((voice) => voice || undefined),
  ),
});

/** The body of `POST /chats/{id}/messages`. */
export const sendBody = sendFields.check(({ value, issues }) => {
  for (const { path, message } of combinationFaults(value)) {
    issues.push({ code: "custom", input: value, path: path.split("."), message });
  }
});
export type SendBody = z.output<typeof sendBody>;

/** The body of `POST /chats/{id}/messages/{messageId}/resend`. */
export const resendBody = z.object({
  senderId: optional(bodyId),
  scheduledAt: optional(instant),
  expiresAt: optional(instant),
  ...conditions,
});

/** A message with a template has the type TEMPLATE, whatever `type` says. */
export function typeOf(body: SendBody): MessageType {
  return body.templateId === undefined ? (body.type ?? "TEXT") : "TEMPLATE";
}

/** What a message says besides text; undefined for nothing. The fields' order is always this one, not the body's. */
export function extraOf({
  interactive,
  location,
  contacts,
  replyTo,
  template,
  voice,
}: DraftExtra): DraftExtra | undefined {
  const extra = {
    ...(interactive && { interactive }),
    ...(location && { location }),
    ...(contacts && { contacts }),
    ...(replyTo !== undefined && { replyTo }),
    ...(template && { template }),
    // False says that it was to be one.
    ...(voice !== undefined && { voice: true }),
  };
  return Object.keys(extra).length > 0 ? extra : undefined;
}
