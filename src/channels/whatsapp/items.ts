import * as z from "zod/mini";
import type { InboundItem, MarketingChoice, ParsedWebhook, StatusUpdate, UnknownName } from "../../model/network.ts";
import type { Price } from "../../model/received.ts";
import { isLoggable, type KnownFields, loggable, newFields } from "../network/known-fields.ts";
import { lenient, textField } from "../network/lenient.ts";
import { parseJson } from "../network/network-response.ts";
import { receivedAt, receivedTerm } from "../network/received.ts";
import { accountNotice, isAboutAccount } from "./account-news.ts";
import { fieldAt } from "./describe.ts";
import { failureOf, metaError } from "./errors.ts";
import { contact, distinct, type MetaContact, networkId, person } from "./fields.ts";
import {
  KNOWN_ACCOUNT_FIELDS,
  KNOWN_CONTACT_FIELDS,
  KNOWN_MESSAGE_FIELDS,
  KNOWN_PREFERENCE_FIELDS,
  KNOWN_STATUS_FIELDS,
} from "./known-fields.ts";
import { IN_A_GROUP, message, messageItems } from "./messages.ts";
import { asEcho, handoverItem, sentByAgent, sentInApp } from "./others.ts";
import { isAboutTemplate, templateNotice } from "./template-news.ts";

const anything = z.catch(z.array(z.unknown()), []);

const envelope = z.object({ object: z.literal("whatsapp_business_account"), entry: z.array(z.unknown()) });
const entry = z.object({ changes: z.array(z.unknown()) });
const named = z.object({ field: z.string(), value: z.unknown() });
const lists = z.object({
  contacts: anything,
  messages: anything,
  message_echoes: anything,
  statuses: anything,
  user_preferences: anything,
  errors: anything,
});
const change = z.object({
  field: z.string(),
  value: z.extend(lists, {
    standby: lenient(lists),
  }),
});

const status = z.object({
  id: networkId,
  status: z.string(),
  recipient_id: person,
  recipient_user_id: person,
  recipient_parent_user_id: person,
  biz_opaque_callback_data: textField,
  timestamp: z.optional(z.unknown()),
  errors: anything,
  recipient_type: textField,
  recipient_participant_id: z.optional(z.unknown()),
  pricing: lenient(
    z.object({ category: z.string().check(z.minLength(1)), type: textField, billable: lenient(z.boolean()) }),
  ),
});

/** Meta's own are words such as `authentication-international`. */
const MAX_CATEGORY = 64;
const GROUP_FIELD = /^group_(?:lifecycle|participants|settings|status)_update$/;
/** Fields with messages, statuses and the choices of contacts. */
const READ_FIELDS = ["messages", "user_preferences"];
/** What the company writes in its app. */
const APP_FIELD = "smb_message_echoes";
/** What the contact and Meta's own agent write to each other. */
const AGENT_FIELD = "standby";
const HANDOVER_FIELD = "messaging_handovers";
/** Fields that say nothing that the service uses. */
const QUIET_FIELD =
  /^(?:account_(?:review|settings)_update|calls|flows|history|message_echoes|partner_solutions|payment_configuration_update|security|smb_app_state_sync|user_id_update)$/;
/** What contacts choose about. */
const MARKETING = "marketing_messages";
/** Types of messages that `describe` knows, or that are stored whole. */
const TYPE =
  /^(?:text|image|video|audio|document|sticker|location|contacts|button|interactive|order|reaction|edit|revoke|system|unsupported|request_welcome|unknown)$/;

const preference = z.object({
  wa_id: person,
  user_id: person,
  category: textField,
  value: textField,
  timestamp: z.optional(z.unknown()),
});

/** Meta's statuses. `played` is the `read` of voice messages. */
const STATUSES: ReadonlyMap<string, StatusUpdate["status"]> = new Map([
  ["sent", "SENT"],
  ["delivered", "DELIVERED"],
  ["read", "READ"],
  ["played", "READ"],
  ["failed", "FAILED"],
]);

/** The service's ids, as it sends them: `<chatId>.<messageId>`, and for a reaction `.reaction.<at>`. */
const OUR_IDS = /^([\w-]{1,64})\.([\w-]{1,64})(?:\.reaction\.(\d{1,15}))?$/;

/** The items of a verified webhook. Each item is parsed separately; an item that can't be parsed leaves a note. */
export function itemsOf(body: Uint8Array): Omit<ParsedWebhook & { genuine: true }, "genuine"> {
  const received: InboundItem[] = [];
  const notes: string[] = [];
  const unknown: UnknownName[] = [];
  const groups: InboundItem["account"][] = [];
  /** The account of the change that is read. */
  let account: InboundItem["account"] = null;
  function read<T extends z.ZodMiniType>(what: string, schema: T, value: unknown, use: (read: z.output<T>) => void) {
    const result = schema.safeParse(value);
    if (result.success) use(result.data);
    else notes.push(`${what} not understood`);
  }

  read("body", envelope, parseJson(new TextDecoder().decode(body)), (call) => {
    for (const each of call.entry) {
      read("entry", entry, each, ({ changes }) => {
        for (const one of changes) readChange(one, each);
      });
    }
  });
  return { items: received, notes, ...(unknown.length > 0 && { unknown }), ...(groups.length > 0 && { groups }) };

  function ignore(what: string, name: string, isQuiet = false): void {
    notes.push(`${what} ${loggable(name)} ignored`);
    if (!isQuiet) count(what, name);
  }

  function count(what: string, name: string): void {
    unknown.push({ account, name: isLoggable(name) ? `${what}.${name}` : what });
  }

  function nameNew(what: string, value: unknown, known: KnownFields): void {
    for (const name of newFields(value, known)) {
      notes.push(`${what} field ${loggable(name)} is new`);
      count(what, name);
    }
  }

  function inGroup(): void {
    notes.push(IN_A_GROUP);
    groups.push(account);
  }

  /** @param from its entry */
  function readChange(each: unknown, from: unknown): void {
    const about = named.safeParse(each).data;
    const number = fieldAt(about?.value, "metadata", "phone_number_id");
    account = typeof number === "string" ? number : null;
    if (about && isAboutTemplate(about.field)) {
      const item = templateNotice(about.field, about.value, from);
      // The account of an item is a phone number, and a template has none.
      if (item) received.push({ account: null, item });
      else notes.push("template not understood");
      return;
    }
    if (about && isAboutAccount(about.field)) {
      nameNew("account", about.value, KNOWN_ACCOUNT_FIELDS);
      const item = accountNotice(about.field, about.value, from);
      if (item) received.push({ account: null, item });
      else notes.push("account not understood");
      return;
    }
    if (about?.field === HANDOVER_FIELD) {
      const item = handoverItem(about.value);
      if (typeof item === "string") notes.push(item);
      else received.push(item);
      return;
    }
    if (about && ![...READ_FIELDS, APP_FIELD, AGENT_FIELD].includes(about.field)) {
      if (GROUP_FIELD.test(about.field)) inGroup();
      else ignore("field", about.field, QUIET_FIELD.test(about.field));
      return;
    }
    read("change", change, each, (found) => {
      const value = listsIn(found);
      // They would go to the called channel, and that may be another number's.
      if (account === null && value.origin !== null) {
        notes.push(`${found.field} without a number`);
        return;
      }
      const add = (...added: InboundItem["item"][]) => received.push(...added.map((item) => ({ account, item })));
      const contacts: MetaContact[] = [];
      for (const one of value.contacts) {
        read("contact", contact, one, (known) => contacts.push(known));
        nameNew("contact", one, KNOWN_CONTACT_FIELDS);
      }
      const byId = new Map(contacts.flatMap((one) => distinct([one.wa_id, one.user_id]).map((id) => [id, one])));
      const { messages, echoes, statuses, user_preferences } = value;
      const isAlone = [messages, echoes, statuses, user_preferences].flat().length === 1;
      const only = isAlone && contacts.length === 1 ? contacts[0] : undefined;
      /** The contact of an item: found by its ids, or the only contact if there is only one item. */
      const contactOf = (...ids: (string | undefined)[]) =>
        distinct(ids)
          .map((id) => byId.get(id))
          .find((known) => known) ?? only;
      /** @param what it is, for the log */
      const readMessage = (
        what: string,
        one: unknown,
        use: (item: InboundItem["item"]) => InboundItem["item"] | null,
      ) =>
        read(what, message, one, (parsed) => {
          nameNew(what, parsed, KNOWN_MESSAGE_FIELDS);
          if (!TYPE.test(parsed.type)) count("type", parsed.type);
          const items = messageItems(parsed, contactOf(parsed.from, parsed.from_user_id));
          if (items === IN_A_GROUP) inGroup();
          else if (typeof items === "string") notes.push(items);
          else add(...items.map(use).filter((item) => item !== null));
        });
      const { origin } = value;
      for (const one of messages) {
        readMessage("message", one, (item) =>
          origin !== null && item.kind === "message" ? { ...item, standby: true } : item,
        );
      }
      for (const one of echoes) readMessage("echo", one, (item) => origin && asEcho(item, origin));
      for (const one of statuses) {
        nameNew("status", one, KNOWN_STATUS_FIELDS);
        read("status", status, one, (parsed) => {
          // There is one for each member, and none for the whole message.
          if (parsed.recipient_type === "group" || parsed.recipient_participant_id) {
            inGroup();
            return;
          }
          const item = statusItem(parsed, contactOf(parsed.recipient_id, parsed.recipient_user_id));
          if (item) add(item);
          else ignore("status", parsed.status);
        });
      }
      for (const one of user_preferences) {
        nameNew("preference", one, KNOWN_PREFERENCE_FIELDS);
        read("preference", preference, one, (parsed) => {
          const item = marketingChoice(parsed, contactOf(parsed.wa_id, parsed.user_id));
          if (item) add(item);
          else if (parsed.category !== MARKETING) ignore("preference", `category.${parsed.category}`);
          else if (!isChoice(parsed.value)) ignore("preference", `value.${parsed.value}`);
          else notes.push("preference without a contact");
        });
      }
      for (const one of value.errors) read("error", metaError, one, ({ code }) => notes.push(`error ${code}`));
    });
  }
}

/**
 * The lists of a change, by its field. Those of Meta's agent are one level deeper. The statuses of its messages are left
 * out.
 */
function listsIn({ field, value }: z.output<typeof change>) {
  const none = { messages: [], echoes: [], statuses: [], user_preferences: [], errors: [] };
  if (field === APP_FIELD) {
    const { contacts, message_echoes } = value;
    return { ...none, contacts, echoes: message_echoes.map(sentInApp), origin: "app" as const };
  }
  if (field === AGENT_FIELD) {
    const { contacts = [], messages = [], message_echoes = [] } = value.standby ?? {};
    return { ...none, contacts, messages, echoes: message_echoes.map(sentByAgent), origin: "network" as const };
  }
  return { ...value, echoes: [], origin: null };
}

function statusItem(parsed: z.output<typeof status>, contact: MetaContact | undefined): StatusUpdate | null {
  const state = STATUSES.get(parsed.status);
  if (!state) return null;
  const [address = null, ...addresses] = distinct([
    parsed.recipient_id,
    contact?.wa_id,
    parsed.recipient_user_id,
    contact?.user_id,
    parsed.recipient_parent_user_id,
    contact?.parent_user_id,
  ]);
  const [, chatId = null, messageId = null, reactedAt] = OUR_IDS.exec(parsed.biz_opaque_callback_data ?? "") ?? [];
  const error = state === "FAILED" ? errorOf(parsed.errors[0]) : null;
  return {
    kind: "status",
    chatId,
    messageId,
    networkId: parsed.id,
    address,
    addresses,
    status: state,
    error,
    ...(parsed.pricing && { price: priceOf(parsed.pricing) }),
    ...(error && { failedAt: receivedAt(parsed.timestamp) }),
    ...(reactedAt !== undefined && { reactionAt: Number(reactedAt) }),
  };
}

function priceOf({ category, type, billable }: NonNullable<z.output<typeof status>["pricing"]>): Price {
  return {
    category: category.slice(0, MAX_CATEGORY),
    type: receivedTerm(type, MAX_CATEGORY),
    billable: billable ?? null,
  };
}

function isChoice(value: string | undefined): boolean {
  return value === "stop" || value === "resume";
}

/** What a contact said of marketing; null for another category, another word, or without an address. */
function marketingChoice(
  { wa_id, user_id, category, value, timestamp }: z.output<typeof preference>,
  contact: MetaContact | undefined,
): MarketingChoice | null {
  const [address, ...addresses] = distinct([wa_id, contact?.wa_id, user_id, contact?.user_id]);
  if (category !== MARKETING || !isChoice(value) || !address) return null;
  return { kind: "marketing", address, addresses, optedOut: value === "stop", at: receivedAt(timestamp) };
}

function errorOf(value: unknown): NonNullable<StatusUpdate["error"]> {
  const error = metaError.safeParse(value);
  if (!error.success) return { code: "network_error", message: "The network gave no reason" };
  return failureOf(error.data);
}
