import { DESCRIPTIONS, networkKinds } from "../../model/channel-kind.ts";
import { HANDLERS } from "../../model/handover.ts";
import { UPLOADS } from "../../model/page-facts.ts";
import { WORK_STATES } from "../../model/work-state.ts";
import { pairs, wholeNumber } from "./arguments.ts";
import { flag, option, PAGE_OPTIONS } from "./command.ts";
import { credentialsOf, OPEN_CREDENTIALS, replaced, SECRET_NAMES, VARIABLES_BY_KIND } from "./credentials.ts";
import {
  botOption,
  jsonFile,
  listOrNull,
  onOrOff,
  orDefault,
  orNull,
  presetOrList,
  rateLimitOf,
  switchOf,
  textOf,
  textOrDefault,
} from "./option-values.ts";
import { field, listField, type Resource } from "./resource.ts";
import { type JsonObject, type Query, type Service, ServiceFault } from "./service.ts";

const WHOSE_CHATS =
  "Uses the API key, which belongs to one organization. With --organization, uses the operator's token.";

/** Whose secret a command uses. @param permission what an API key needs for it */
const whose = (permission: string) =>
  `Uses the operator's token if it is known, else the API key, which needs ${permission}.`;

const SECRETS = `Secrets are read from ${VARIABLES_BY_KIND}.
If a variable is not set, the command asks for the secret or reads a line of standard input.`;

const NO_LIMIT = "--max-chats default removes the limit.";

/** A maximum. `default` restores the default. */
const limitField = (to: string, about: string) => field("n", to, about, orNull(wholeNumber));

/** All resources with commands of their own. */
export const RESOURCES = {
  organizations: {
    name: "organizations",
    one: "organization",
    scope: "service",
    columns: { ID: "id", NAME: "name", JURISDICTION: "jurisdiction", REGION: "region", CREATED: "createdAt" },
    fields: {
      name: field("name", "name", "The organization's name"),
      owner: field("name", "owner.name", "The first member's name"),
      "owner-email": field("address", "owner.email", "The first member's email address"),
      jurisdiction: field("eu|us", "jurisdiction", "Where the data must stay; it can't be changed"),
      region: field("region", "region", "Where the data should be, for example weur"),
      "max-chats": limitField("limits.chats", "The maximum number of chats; no limit by default"),
      "max-members": limitField("limits.members", "The maximum number of members; 1,000 by default"),
      "max-templates": limitField("limits.templates", "The maximum number of templates; 1,000 by default"),
      "max-channels": limitField("limits.channels", "The maximum number of channels; 200 by default"),
      search: field("on|off", "search.on", "Whether all messages can be searched; on by default", switchOf),
      "self-service": field(
        "on|off",
        "selfService",
        "Whether keys with keys:write can manage keys; off by default",
        onOrOff,
      ),
      "max-keys": limitField("selfService.maxKeys", "With self-service: the maximum number of keys"),
      "max-per-second": limitField("selfService.maxPerSecond", "With self-service: the maximum rate limit of a key"),
      "max-quota": limitField(
        "selfService.monthlyQuota",
        "With self-service: the maximum sum of the keys' monthly quotas",
      ),
    },
    required: ["name", "owner"],
    list: { about: "List all organizations, oldest first" },
    create: { about: "Create an organization and its first member" },
    show: { about: "Show an organization" },
    change: {
      about: "Change an organization's name, limits, search or self-service",
      details: `${NO_LIMIT} So do --max-keys, --max-per-second and --max-quota, which turn the self-service on.`,
      fixed: ["owner", "owner-email", "jurisdiction", "region"],
    },
    delete: {
      about: "Delete an organization with everything in it, messages too",
      details: "The service deletes in steps. The command repeats its request until nothing is left.",
      loss: "everything in it",
    },
  },
  members: {
    name: "members",
    one: "member",
    scope: "either",
    columns: { ID: "id", NAME: "name", EMAIL: "email", PERMISSIONS: "permissions", CREATED: "createdAt" },
    fields: {
      name: field("name", "name", "The member's name"),
      "public-name": field("name", "publicName", "The member's name for contacts; by default the name", orDefault),
      email: field("address", "email", "The member's email address", orDefault),
      permission: listField(
        "name",
        "permissions",
        "What the member may do in the console: agent (the default), viewer, manager, or permissions such as messages:send",
        presetOrList,
      ),
    },
    required: ["name"],
    list: {
      about: "List members, oldest first; the first one is the default sender",
      details: whose("members:read"),
    },
    create: { about: "Create a member" },
    change: {
      about: "Change a member's names, email address or permissions",
      details:
        "--permission replaces all permissions of the member; agent, viewer and manager are presets. --email default removes the address, and --public-name default the name for contacts.",
    },
    delete: { about: "Delete a member, unless it is the last one" },
  },
  channels: {
    name: "channels",
    one: "channel",
    scope: "either",
    columns: {
      ID: "id",
      KIND: "kind",
      NAME: "name",
      HEALTH: "health.state",
      SINCE: "health.since",
      REASON: "health.reason",
      WARNINGS: "health.warnings.code",
    },
    fields: {
      kind: field("kind", "kind", `One of ${Object.keys(DESCRIPTIONS).join(", ")}`),
      name: field("name", "name", "The channel's name"),
      ...Object.fromEntries(
        OPEN_CREDENTIALS.map(({ flag, name, kind, label }) => [
          flag,
          field("text", `credentials.${name}`, `${kind}: ${label}`),
        ]),
      ),
      "per-second": field("n", "settings.perSecond", `${networkKinds()}: messages per second`, wholeNumber),
      "waba-id": field("id", "settings.wabaId", "whatsapp: the account that the templates are synced from"),
      "stop-word": listField(
        "text",
        "settings.stopWords",
        "A text with which a contact ends marketing, for example STOP",
        listOrNull,
      ),
      bot: field(
        "key_…/seconds",
        "settings.bot",
        "The key that answers new chats first, and after how many seconds of its silence people get one, 120 by default",
        orNull(botOption),
      ),
      hours: field("file", "settings.hours", "A JSON file of the time zone and the week's hours", jsonFile),
      away: field("text", "settings.away", "What contacts get who write outside of the hours", textOrDefault),
      "allowed-origin": listField("origin", "settings.allowedOrigins", "web: a site that may embed the chat"),
      uploads: field("whose", "settings.uploads", `web: who can send files, one of ${UPLOADS.join(", ")}`),
      "max-chats": limitField("limits.chats", "The maximum number of chats; no limit by default"),
      title: field("text", "settings.title", "web: the title of the chat; by default the channel's name", orDefault),
      greeting: field("text", "settings.greeting", "web: what an empty chat shows", orDefault),
      "accent-color": field(
        "#rrggbb",
        "settings.accentColor",
        "web: the color of the launcher and of buttons",
        orDefault,
      ),
      "logo-url": field("url", "settings.logoUrl", "web: a square picture beside the title", orDefault),
      starter: listField(
        "text",
        "settings.starters",
        "web: a first message that a visitor can send with one tap",
        listOrNull,
      ),
      texts: field("file", "settings.texts", "web: a JSON file of texts by language and name", jsonFile),
      "hide-when-closed": field(
        "on|off",
        "settings.hideWhenClosed",
        "web: whether the launcher is hidden outside of the hours",
        switchOf,
      ),
      "ask-contact": field(
        "when",
        "settings.askContact",
        "web: when visitors are asked for name and email: never, afterFirst or whenClosed",
        orDefault,
      ),
      "max-origins": limitField("limits.origins", "web: the maximum number of origins; 20 by default"),
    },
    required: ["kind", "name"],
    list: { about: "List an organization's channels and their health, oldest first", details: whose("channels:read") },
    create: {
      about: "Create a channel",
      details: `${SECRETS}\nThe identity secret of a web channel is shown only once, in the output of this command.`,
    },
    show: { about: "Show a channel with its health and the webhook to register at its network" },
    change: {
      about: "Change a channel's name, settings, limits or secrets",
      details: `${NO_LIMIT} --bot default removes the bot.\n${SECRETS}`,
      fixed: ["kind"],
      options: { replace: listField("secret", "", `A secret to replace: ${SECRET_NAMES.join(", ")}`) },
    },
    delete: { about: "Delete a channel with its chats", loss: "its chats" },
    async more({ kind, replace }, verb) {
      const secrets = await (verb === "create" ? credentialsOf(String(kind)) : replaced(replace as string[]));
      return Object.fromEntries(Object.entries(secrets).map(([name, value]) => [`credentials.${name}`, value]));
    },
    about: ({ kind, id }, { connection }) =>
      kind === "web" ? `Visitors see it at ${new URL(`/web/${String(id)}`, connection.url).href}` : null,
  },
  templates: {
    name: "templates",
    one: "template",
    scope: "either",
    columns: {
      ID: "id",
      NAME: "name",
      LANGUAGE: "language",
      STATUS: "network.status",
      VARIABLES: "variables",
      CHANGED: "updatedAt",
    },
    fields: {
      name: field("name", "name", "The name; on a network that approves templates, the name that it approved"),
      language: field("code", "language", "The language, for example en_US"),
      body: field("text", "body", "The text with {{placeholders}}; - reads it from standard input", textOf),
    },
    required: ["name", "language", "body"],
    list: { about: "List an organization's templates, oldest first", details: whose("templates:read") },
    create: { about: "Create a template" },
    show: { about: "Show a template" },
    change: { about: "Change a template; messages sent with it stay as they are" },
    delete: { about: "Delete a template; waiting messages that use it are still delivered" },
  },
  replies: {
    name: "replies",
    one: "reply",
    scope: "either",
    hasPages: false,
    columns: { ID: "id", SHORTCUT: "shortcut", NAME: "name", CONTENT: "content", CHANGED: "updatedAt" },
    filters: { limit: PAGE_OPTIONS.limit, after: option("cursor", "Continue a list: the cursor of its last page") },
    fields: {
      name: field("name", "name", "What the picker shows"),
      shortcut: field("word", "shortcut", "A short form that finds it; none by default", orDefault),
      content: field(
        "text",
        "content",
        "The text with {{contact.name}}, {{member.name}} and {{metadata.order|your order}}; - reads it from standard input",
        textOf,
      ),
    },
    required: ["name", "content"],
    list: { about: "List an organization's saved replies, oldest first", details: whose("messages:send") },
    create: {
      about: "Create a saved reply, which the console's composer offers",
      details: whose("replies:write"),
    },
    change: { about: "Change a saved reply", details: "--shortcut default removes the shortcut." },
    delete: { about: "Delete a saved reply; sent messages stay as they are" },
  },
  labels: {
    name: "labels",
    one: "label",
    scope: "either",
    isWithin: true,
    hasPages: false,
    columns: { ID: "id", NAME: "name", COLOR: "color", CHATS: "chats" },
    fields: {
      name: field("name", "name", "What people read"),
      color: field("#rrggbb", "color", "The color in which it is shown; none by default", orDefault),
    },
    required: ["name"],
    list: { about: "List an organization's labels of chats, oldest first", details: whose("chats:read") },
    create: { about: "Create a label, to give it to chats", details: whose("labels:write") },
    change: { about: "Change a label in all chats", details: "--color default removes the color." },
    delete: { about: "Delete a label; its chats stay" },
  },
  chats: {
    name: "chats",
    one: "chat",
    scope: "clients",
    columns: {
      ID: "id",
      CHANNEL: "channel.kind",
      CONTACT: "contact.address",
      NAME: "contact.name",
      "LAST MESSAGE": "lastMessageAt",
      UNANSWERED: "unansweredSince",
      SCHEDULED: "nextScheduledAt",
      ASSIGNEE: "assigneeId",
      STATE: "state",
      HANDLER: "handler",
    },
    filters: {
      channel: field("id|kind", "", "Only chats of one channel, or of one kind of channel"),
      contact: field("address", "", "Only the chat with this contact"),
      search: field(
        "text",
        "",
        "Only chats whose contact has an address, or a word of the name, that starts with this",
      ),
      before: field("cursor", "", "Continue a list, instead of a page: the cursor of the last response"),
      unanswered: flag("Only the unanswered chats, longest wait first"),
      scheduled: flag("Only the chats with a scheduled message, the next one due first"),
      assignee: field("mbr_…|none", "", "Only the chats of one member, or of nobody"),
      state: field("state", "", `Only the chats in one state: ${WORK_STATES.join(", ")}`),
      handler: field("who", "", `Only the chats that one has: ${HANDLERS.join(", ")}`),
      person: field("key", "", "Only the chats of one person, by your own key of the person"),
      label: field("lbl_…", "", "Only the chats with this label"),
      "opted-out": flag("Only the chats whose contact has opted out of marketing"),
      mentioned: field("mbr_…", "", "Only the chats with notes that mention this member, newest mention first"),
      after: field(
        "cursor",
        "",
        "Continue a list of unanswered, scheduled or found chats: the cursor of the last response",
      ),
    },
    isNewestFirst: ({ unanswered, scheduled, search }) =>
      [unanswered, scheduled, search].every((filter) => filter === undefined),
    fields: {
      channel: field("chn_…", "channelId", "The channel"),
      address: field("address", "contact.address", "The contact's address on the channel"),
      name: field("name", "contact.name", "The contact's name"),
      person: field("key", "contact.personId", "Your own key of the person; a chat that has one keeps it"),
      metadata: listField("name=value", "metadata", "A pair of metadata", (texts, flag) => pairs(flag, texts)),
    },
    required: ["channel", "address"],
    list: { about: "List an organization's chats, latest activity first", details: WHOSE_CHATS },
    create: { about: "Create a chat with a contact, or get the existing one", details: WHOSE_CHATS },
    show: { about: "Show a chat, with its waiting messages if you are the operator" },
    delete: { about: "Delete a chat with its messages", loss: "its messages" },
  },
  keys: {
    name: "keys",
    one: "key",
    scope: "either",
    columns: {
      ID: "id",
      NAME: "name",
      PERMISSIONS: "permissions",
      "RATE LIMIT": "rateLimit",
      QUOTA: "monthlyQuota",
      CREATED: "createdAt",
      "LAST USED": "lastUsedAt",
      EXPIRES: "expiresAt",
      REVOKED: "revokedAt",
    },
    fields: {
      name: field("name", "name", "The key's name"),
      permission: listField(
        "name",
        "permissions",
        "A permission, for example messages:send; those of chats and messages by default",
        listOrNull,
      ),
      allow: listField(
        "address",
        "ipAllowlist",
        "An IP address or range that may use the key; any by default",
        listOrNull,
      ),
      "rate-limit": field(
        "n/seconds",
        "rateLimit",
        "Requests per window in seconds, for example 300/60",
        orNull(rateLimitOf),
      ),
      quota: limitField("monthlyQuota", "Requests per month; no quota by default"),
      "drafts-only": field(
        "on|off",
        "draftsOnly",
        "Whether the key only writes drafts, which a person sends; off by default",
        orNull(switchOf),
      ),
      region: field("region", "region", "Where the software that uses the key runs, for example weur"),
      expires: field(
        "time",
        "expiresAt",
        "The end of the key, for example 2027-01-31T00:00:00Z; never by default",
        orNull(String),
      ),
    },
    required: ["name"],
    list: {
      about: "List an organization's API keys, oldest first",
      details: `${whose("keys:read")}\nLAST USED can be about a minute late, and refused requests count too. With an API key, it needs stats:read.`,
    },
    create: { about: "Create an API key; its secret is shown only once", details: whose("keys:write") },
    show: { about: "Show an API key" },
    change: {
      about: "Change an API key; the change applies to its next request",
      details: "To restore an option's default, give it the value default: --quota default, --allow default.",
      fixed: ["region"],
    },
    delete: { word: "revoke", about: "Revoke an API key permanently; it stops working immediately" },
    async complete(rows, service, query) {
      // Both lists have the same order and pages.
      const used = new Map((await statsOfKeys(service, query)).map(({ id, updatedAt }) => [id, updatedAt]));
      for (const row of rows) row.lastUsedAt = used.get(row.id);
    },
  },
  webhooks: {
    name: "webhooks",
    one: "webhook",
    scope: "either",
    hasPages: false,
    columns: {
      ID: "id",
      URL: "url",
      STATE: "state",
      SINCE: "since",
      "WAITING CHATS": "waitingChats",
      FAILED: "failed",
      "LAST SUCCESS": "lastSuccessAt",
    },
    fields: {
      url: field("address", "url", "The https address that the service calls"),
      type: listField("type", "types", "A type of event, or a family such as message.*; all by default", listOrNull),
      channel: listField("chn_…", "channels", "A channel whose events are sent; all by default", listOrNull),
      payload: field("full|thin", "payload", "thin: only ids and facts, no text; full by default", orNull(String)),
      "per-second": limitField("perSecond", "Calls per second; 50 by default"),
      concurrency: limitField("concurrency", "Calls at the same time; 20 by default"),
      description: field("text", "description", "What it is for", orNull(String)),
    },
    required: ["url"],
    list: { about: "List an organization's webhooks and their states, oldest first", details: whose("webhooks:read") },
    create: {
      about: "Create a webhook; its signing secret is shown only once",
      details: `${whose("webhooks:write")}\nEvents from now on are sent, one at a time until the first succeeds.`,
    },
    show: { about: "Show a webhook with its state" },
    change: {
      about: "Change a webhook's address, filters or pace",
      details: `The value default restores an option's default: --type default. With a new address the webhook is on trial again, and
pending events go there.`,
    },
    delete: { about: "Delete a webhook; its pending events are not sent" },
  },
} satisfies Record<string, Resource>;

/** The statistics of keys; none if the API key lacks `stats:read`. */
async function statsOfKeys(service: Service, query: Query): Promise<JsonObject[]> {
  try {
    const isOwn = query.organization === undefined;
    const { body } = await (isOwn
      ? service.asClient("GET", "/stats", { query })
      : service.asOperator("GET", "/stats", { query }));
    return body.keys as JsonObject[];
  } catch (error) {
    if (error instanceof ServiceFault && error.code === "permission_denied") return [];
    throw error;
  }
}
