import { text } from "node:stream/consumers";
import { CommandError } from "../command-error.ts";
import { pairs, wholeNumber } from "./arguments.ts";
import { credentialsOf, replaced } from "./credentials.ts";
import type { Resource } from "./resource.ts";
import type { Body } from "./service.ts";

const NAME = { type: "string", value: "name", to: "name" } as const;

/** All resources with commands of their own, in the order of the help. */
export const RESOURCES = {
  organizations: {
    name: "organizations",
    one: "organization",
    scope: "service",
    columns: [
      ["ID", "id"],
      ["NAME", "name"],
      ["JURISDICTION", "jurisdiction"],
      ["REGION", "region"],
      ["CREATED", "createdAt", "time"],
    ],
    fields: {
      name: { ...NAME, about: "The organization's name" },
      owner: { ...NAME, to: "owner.name", about: "The first member's name" },
      "owner-email": {
        type: "string",
        value: "address",
        to: "owner.email",
        about: "The first member's e-mail address",
      },
      jurisdiction: { type: "string", value: "eu|us", to: "jurisdiction", about: "Where the data must stay, for good" },
      region: { type: "string", value: "region", to: "region", about: "Where the data should be, for example weur" },
    },
    required: ["name", "owner"],
    list: { about: "List all organizations, oldest first" },
    create: { about: "Create an organization and its first member" },
    show: { about: "Show an organization" },
    delete: {
      about: "Delete an organization with everything in it, messages too",
      details: "The service deletes in steps. The command repeats its request until nothing is left.",
      loss: "everything in it",
    },
  },
  members: {
    name: "members",
    one: "member",
    scope: "organization",
    columns: [
      ["ID", "id"],
      ["NAME", "name"],
      ["EMAIL", "email"],
      ["CREATED", "createdAt", "time"],
    ],
    fields: {
      name: { ...NAME, about: "The member's name" },
      email: { type: "string", value: "address", to: "email", about: "The member's e-mail address" },
    },
    required: ["name"],
    list: {
      about: "List an organization's members, oldest first",
      details: "The first member sends the messages that name no sender.",
    },
    create: { about: "Create a member" },
    delete: { about: "Delete a member, unless it is the last one" },
  },
  channels: {
    name: "channels",
    one: "channel",
    scope: "organization",
    columns: [
      ["ID", "id"],
      ["KIND", "kind"],
      ["NAME", "name"],
      ["HEALTH", "health.state"],
      ["SINCE", "health.since", "time"],
      ["REASON", "health.reason"],
    ],
    fields: {
      kind: { type: "string", value: "kind", to: "kind", about: "whatsapp, telegram or web" },
      name: { ...NAME, about: "The channel's name" },
      "phone-number-id": {
        type: "string",
        value: "digits",
        to: "credentials.phoneNumberId",
        about: "whatsapp: the number's id at Meta",
      },
      "per-second": {
        type: "string",
        value: "n",
        to: "settings.perSecond",
        read: wholeNumber,
        about: "whatsapp, telegram: messages per second",
      },
      "allowed-origin": {
        type: "string",
        multiple: true,
        value: "origin",
        to: "settings.allowedOrigins",
        about: "web: a site that may embed the chat",
      },
    },
    required: ["kind", "name"],
    list: { about: "List an organization's channels and their health, oldest first" },
    create: {
      about: "Create a channel",
      details: `Secrets are read from PARLEY_BOT_TOKEN (telegram), or PARLEY_ACCESS_TOKEN and PARLEY_APP_SECRET (whatsapp).
If a variable is not set, the command asks for the secret or reads a line of standard input.
The identity secret of a web channel is shown only once, in the output of this command.`,
    },
    show: { about: "Show a channel with its health and the webhook to register at its network" },
    change: {
      about: "Change a channel's name, settings or secrets",
      details: `New secrets are read from PARLEY_BOT_TOKEN (telegram), or PARLEY_ACCESS_TOKEN and PARLEY_APP_SECRET (whatsapp).
If a variable is not set, the command asks for the secret or reads a line of standard input.`,
      fields: ["name", "phone-number-id", "per-second", "allowed-origin"],
      options: {
        replace: {
          type: "string",
          multiple: true,
          value: "secret",
          about: "The secret to replace: bot-token, access-token or app-secret",
        },
      },
    },
    delete: { about: "Delete a channel with its chats", loss: "its chats" },
    async body(options, verb) {
      const secrets = verb === "create" ? credentialsOf(String(options.kind)) : replaced(options.replace as string[]);
      return Object.fromEntries(Object.entries(await secrets).map(([name, value]) => [`credentials.${name}`, value]));
    },
  },
  templates: {
    name: "templates",
    one: "template",
    scope: "organization",
    columns: [
      ["ID", "id"],
      ["NAME", "name"],
      ["LANGUAGE", "language"],
      ["VARIABLES", "variables"],
      ["CHANGED", "updatedAt", "time"],
    ],
    fields: {
      name: { ...NAME, about: "The name; for WhatsApp, the name that Meta approved" },
      language: { type: "string", value: "code", to: "language", about: "The language, for example en_US" },
      body: {
        type: "string",
        value: "text",
        to: "body",
        read: async (given: string) => (given === "-" ? (await text(process.stdin)).replace(/\r?\n$/, "") : given),
        about: "The text with {{placeholders}}; - reads it from standard input",
      },
    },
    required: ["name", "language", "body"],
    list: { about: "List an organization's templates, oldest first" },
    create: { about: "Create a template" },
    show: { about: "Show a template" },
    change: { about: "Change a template; messages sent with it stay as they are" },
    delete: { about: "Delete a template; waiting messages that use it are still delivered" },
  },
  chats: {
    name: "chats",
    one: "chat",
    scope: "clients",
    columns: [
      ["ID", "id"],
      ["CHANNEL", "channel.kind"],
      ["CONTACT", "contact.address"],
      ["NAME", "contact.name"],
      ["LAST MESSAGE", "lastMessageAt", "time"],
    ],
    filters: {
      channel: { type: "string", value: "id|kind", about: "Only chats of one channel, or of one kind of channel" },
      contact: { type: "string", value: "address", about: "Only the chat with this contact" },
      before: { type: "string", value: "cht_…", about: "Instead of a page: the chats after this one in the list" },
    },
    fields: {
      channel: { type: "string", value: "chn_…", to: "channelId", about: "The channel" },
      address: {
        type: "string",
        value: "address",
        to: "contact.address",
        about: "The contact's address on the channel",
      },
      name: { ...NAME, to: "contact.name", about: "The contact's name" },
      metadata: {
        type: "string",
        multiple: true,
        value: "name=value",
        to: "metadata",
        read: (texts: string[], flag: string) => pairs(flag, texts),
        about: "A pair of metadata",
      },
    },
    required: ["channel", "address"],
    list: {
      about: "List an organization's chats, latest activity first",
      details: "Uses the API key, which belongs to one organization. With --organization, uses the operator's token.",
    },
    create: {
      about: "Create a chat with a contact, or get the existing one",
      details: "Uses the API key, which belongs to one organization. With --organization, uses the operator's token.",
    },
    show: { about: "Show a chat, with its waiting messages if you are the operator" },
    delete: { about: "Delete a chat with its messages", loss: "its messages" },
  },
  keys: {
    name: "keys",
    one: "key",
    scope: "organization",
    columns: [
      ["ID", "id"],
      ["NAME", "name"],
      ["PERMISSIONS", "permissions"],
      ["RATE LIMIT", "rateLimit", "rate"],
      ["QUOTA", "monthlyQuota"],
      ["CREATED", "createdAt", "time"],
      ["LAST USED", "lastUsedAt", "time"],
      ["EXPIRES", "expiresAt", "time"],
      ["REVOKED", "revokedAt", "time"],
    ],
    async complete(service, organization, { page, limit } = {}, rows) {
      // Both lists have the same order and pages.
      const { body } = await service.asOperator("GET", "/stats", { query: { organization, page, limit } });
      const used = new Map((body.keys as Body[]).map(({ id, updatedAt }) => [id, updatedAt]));
      for (const row of rows) row.lastUsedAt = used.get(row.id);
    },
    fields: {
      name: { ...NAME, about: "The key's name" },
      permission: {
        type: "string",
        multiple: true,
        value: "name",
        to: "permissions",
        read: listOrDefault,
        about: "A permission, for example messages:send; all by default",
      },
      allow: {
        type: "string",
        multiple: true,
        value: "address",
        to: "ipAllowlist",
        read: listOrDefault,
        about: "An IP address or range that may use the key; any by default",
      },
      "rate-limit": {
        type: "string",
        value: "n/seconds",
        to: "rateLimit",
        read: orDefault(rateLimitOf),
        about: "Requests in a window of time, for example 300/60",
      },
      quota: {
        type: "string",
        value: "n",
        to: "monthlyQuota",
        read: orDefault(wholeNumber),
        about: "Requests in a month; no quota by default",
      },
      expires: {
        type: "string",
        value: "time",
        to: "expiresAt",
        read: orDefault((given) => given),
        about: "The end of the key, for example 2027-01-31T00:00:00Z; never by default",
      },
    },
    required: ["name"],
    list: {
      about: "List an organization's API keys, oldest first",
      details: "LAST USED can be about a minute late, and refused requests count too.",
    },
    create: { about: "Create an API key; its secret is shown only once" },
    show: { about: "Show an API key" },
    change: {
      about: "Change an API key from its next request on",
      details: "The value default restores an option's default: --quota default, --allow default.",
    },
    delete: { word: "revoke", about: "Revoke an API key for good, from its next request on" },
  },
} satisfies Record<string, Resource>;

function listOrDefault(texts: string[]): string[] | null {
  return texts.length === 1 && texts[0] === "default" ? null : texts;
}

/** Reads a value, or null for the word `default`. */
function orDefault<T>(read: (given: string, flag: string) => T): (given: string, flag: string) => T | null {
  return (given, flag) => (given === "default" ? null : read(given, flag));
}

function rateLimitOf(given: string): { limit: number; windowSeconds: number } {
  const [, limit, windowSeconds] = /^(\d{1,9})\/(\d{1,9})$/.exec(given) ?? [];
  if (limit === undefined)
    throw new CommandError("--rate-limit must have the form requests/seconds, for example 300/60.", 2);
  return { limit: Number(limit), windowSeconds: Number(windowSeconds) };
}
