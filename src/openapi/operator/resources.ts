import * as z from "zod";
import { CHANNEL_KINDS } from "../../channels/kinds.ts";
import { CHECK_NAMES, CHECK_STATES, type ChannelCheck } from "../../management/channel-checks.ts";
import { DEFAULT_MAX_KEYS } from "../../management/key-ceilings.ts";
import type { LeftBehind } from "../../management/left-behind.ts";
import type { presentMember } from "../../management/members.ts";
import type { ShownOrganization } from "../../management/organizations.ts";
import type { presentChannel } from "../../management/present-channel.ts";
import type { registerChannel } from "../../management/register-webhook.ts";
import type { presentReply } from "../../management/replies.ts";
import type { Resealed } from "../../management/reseal.ts";
import type { presentTemplate } from "../../management/templates.ts";
import { networkKinds, networkLabels } from "../../model/channel-kind.ts";
import { MAX_UNKNOWN_NAMES } from "../../model/channel-warning.ts";
import type { Queue } from "../../model/chat-answers.ts";
import type { Label } from "../../model/label.ts";
import { WEEKDAYS } from "../../model/opening-hours.ts";
import { UPLOADS } from "../../model/page-facts.ts";
import { ASK_CONTACT } from "../../model/page-settings.ts";
import { PERMISSIONS } from "../../model/permission.ts";
import { REGIONS } from "../../model/region.ts";
import { BUTTON_TYPES, HEADER_FORMATS, PARAMETER_FORMATS } from "../../model/template.ts";
import { channelWarnings } from "../resources.ts";
import {
  count,
  countOrNull,
  group,
  groupIfSet,
  groupOrNull,
  groups,
  id,
  oneOf,
  resource,
  text,
  textIfSet,
  textOrNull,
  time,
  timeOrNull,
  yesOrNo,
} from "../typed-schema.ts";

const chats = z.number().nullable().describe("The maximum number of chats. Null: no limit");
const LIMITS = "What the operator limits. Messages from a network are always accepted";
const limits = group(LIMITS, {
  chats,
  members: count.describe("The maximum number of members"),
  templates: count.describe("The maximum number of templates"),
  channels: count.describe("The maximum number of channels"),
});
const origins = count.describe("web: the maximum number of entries in `allowedOrigins`");

export const organizationSchema = resource<ShownOrganization>()(
  "Organization",
  "A customer of the service. An API key sees the data of one organization.",
  z.object({
    id: id("organization"),
    name: text("The organization's name"),
    jurisdiction: z
      .enum(["eu", "us"])
      .nullable()
      .describe("Where the organization's Durable Objects must run and store their data. Never changes"),
    region: z.enum(REGIONS).nullable().describe("A hint for where its chats, channels and webhooks should be stored"),
    limits,
    selfService: groupOrNull("What keys with `keys:write` may give to keys. Null: only the operator manages keys", {
      maxKeys: z
        .number()
        .nullable()
        .describe(`The maximum number of keys that are not revoked. Null: ${DEFAULT_MAX_KEYS.toLocaleString("en")}`),
      maxPerSecond: z
        .number()
        .nullable()
        .describe("The maximum rate limit of a key, in requests for each second of its window. Null: no ceiling"),
      monthlyQuota: z.number().nullable().describe("The maximum sum of the keys' monthly quotas. Null: no ceiling"),
    }),
    assignOnAnswer: yesOrNo(
      "Whether a chat without an assignee is assigned to the member who answers it in the console. Sending with the API assigns nothing",
    ),
    temporary: yesOrNo("Whether it is for a test. `parley doctor --smoke` deletes those that are older than an hour"),
    createdAt: time("When it was created"),
    search: groupIfSet("The search over all messages. Absent in lists", {
      state: oneOf(["off", "filling", "on"], "`filling`: what was said before it was on is being indexed"),
      done: count.describe("How many chats were indexed since it was turned on, of those that were there"),
      total: count.describe("How many chats there were when it was turned on"),
    }),
  }),
);

export const memberSchema = resource<ReturnType<typeof presentMember>>()(
  "Member",
  "A person in an organization. Outbound messages have a member as their sender.",
  z.object({
    id: id("member"),
    organizationId: id("organization"),
    name: text("The member's name"),
    publicName: textOrNull("The name that contacts see of the member. Null: `name`"),
    email: textOrNull("The member's email address"),
    permissions: z.array(z.enum(PERMISSIONS)).describe("What the member may do in the console"),
    passkeys: count.describe("How many passkeys the member has added in the console"),
    createdBy: text("The id of the key or member that added the member, or `operator`"),
    createdAt: time("When the member was added"),
    lastSeenAt: timeOrNull("When the member last signed in to the console or used it, to the hour. Null: never"),
  }),
);

const named = z.object({ id: text("The id"), name: text("The name") });
const ending = z.object({ memberId: id("member"), expiresAt: time("When it ends") });

export const leftBehindSchema = resource<LeftBehind>()(
  "LeftBehind",
  "What a key or a member made, and what stays. Each list has at most 100 entries.",
  z.object({
    keys: z.array(named).describe("Keys that it created, or whose secret or rights it set, and that still work"),
    members: z.array(named).describe("Members that it added, or whose email or permissions it set"),
    links: z.array(ending).describe("Its unused sign-in links. They work only while it could still make them"),
    sessions: z.array(ending).describe("Members with sessions that began with its links"),
    passkeys: groups("Passkeys that its links led to. Ending the member's sessions deletes them", {
      id: text("The passkey's id"),
      memberId: id("member"),
      name: text("The passkey's name"),
    }),
    webhooks: groups("Webhooks that it created, or whose URL or secret it set", {
      id: id("webhook"),
      url: text("The URL"),
    }),
    identitySecrets: groups("Web channels whose identity secret it got", { channelId: id("channel") }),
    hasMore: yesOrNo("Whether a list has more entries: end some of those shown, and repeat the request"),
  }),
);

const opened = z.object({ opens: z.string(), closes: z.string() });

/** Whether a channel works. */
export const channelHealth = {
  state: oneOf(
    ["ok", "broken"],
    "`broken` if the network refuses the channel, for example because of an invalid token",
  ),
  reason: textOrNull("Why the channel is broken"),
  since: time("When the state last changed"),
  isVerified: yesOrNo("Whether the network has ever accepted a message. False: the credentials are not proven yet"),
  warnings: channelWarnings,
  unknown: z
    .record(z.string(), z.number().int())
    .describe(
      `How often the network sent what the service does not know yet, by name, such as \`field.flows\`. At most ${MAX_UNKNOWN_NAMES} names`,
    ),
};

export const channelSchema = resource<Awaited<ReturnType<typeof presentChannel>>>()(
  "Channel",
  `A connection to a network (${networkLabels()}), or a web chat.`,
  z.object({
    id: id("channel"),
    organizationId: id("organization"),
    kind: oneOf(CHANNEL_KINDS, "The kind of channel. Never changes"),
    name: text("The channel's name. Visitors of a web chat see it"),
    settings: group("The settings, with their defaults", {
      allowedOrigins: z
        .array(z.string())
        .optional()
        .describe("web: the sites that can embed the chat. An empty list allows every site"),
      uploads: z
        .enum(UPLOADS)
        .optional()
        .describe("web: who can send files. `verified`: only users that your site signed in"),
      title: textIfSet("web: the title of the page. By default the channel's name"),
      greeting: textIfSet("web: what an empty chat shows. It is not a message"),
      accentColor: textIfSet("web: the color of the launcher and of buttons, as `#rrggbb`"),
      logoUrl: textIfSet("web: a square picture beside the title"),
      starters: z.array(z.string()).optional().describe("web: first messages that a visitor can send with one tap"),
      texts: z
        .record(z.string(), z.record(z.string(), z.string()))
        .optional()
        .describe("web: your own texts in place of the page's, by language tag and name"),
      hours: z
        .object({ timeZone: z.string(), week: z.partialRecord(z.enum(WEEKDAYS), z.array(opened)) })
        .optional()
        .describe("When the company answers, by the clock of its time zone. Without hours it always does"),
      away: z.object({ text: z.string() }).optional().describe("What contacts get who write outside of the hours"),
      askContact: z
        .enum(ASK_CONTACT)
        .optional()
        .describe("web: when anonymous visitors are asked for their name and email address"),
      hideWhenClosed: z.boolean().optional().describe("web: whether the launcher is hidden outside of the hours"),
      perSecond: z
        .number()
        .optional()
        .describe(`${networkKinds()}: the maximum number of calls to the network per second`),
      stopWords: z.array(z.string()).optional().describe("The texts with which a contact ends marketing"),
      bot: z
        .object({
          keyId: id("key"),
          handOverAfterSeconds: z.number().describe("After how long without an answer of the bot people get the chat"),
        })
        .optional()
        .describe("The key that answers new chats first"),
      wabaId: textIfSet("whatsapp: the WhatsApp Business account that the channel's templates are synced from"),
    }),
    limits: group(LIMITS, { chats, origins }),
    retentionDays: countOrNull("After how many days messages are deleted. Null: never"),
    credentials: z
      .record(z.string(), z.string())
      .exactOptional()
      .describe(`${networkKinds()}: the last four characters of each credential`),
    webhook: z
      .object({
        url: text("The URL for the network to call"),
        verifyToken: textOrNull(
          "The token by which the service knows the network. Null if no configured key can decrypt it",
        ),
      })
      .exactOptional()
      .describe(`${networkKinds()}: what to enter at the network`),
    health: group("Whether the channel works", channelHealth),
    createdAt: time("When it was created"),
  }),
);

const component = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("HEADER"),
    format: oneOf(HEADER_FORMATS, "`OTHER`: can't be sent"),
    text: textIfSet("Of a `TEXT`. It may have a placeholder"),
  }),
  z.object({ type: z.literal("BODY"), text: text("The text") }),
  z.object({ type: z.literal("FOOTER"), text: text("The text") }),
  z.object({
    type: z.literal("BUTTONS"),
    buttons: groups("The buttons. A send names them by their index, from 0", {
      type: oneOf(BUTTON_TYPES, "`OTP`: takes the code of the body. `OTHER`: can't be sent"),
      text: text("The title. If the network lists none, the type in words, such as `copy code`"),
      url: textIfSet("Of a `URL`. It may end with a placeholder"),
      phoneNumber: textIfSet("Of a `PHONE_NUMBER`"),
    }),
  }),
  z.object({ type: z.literal("OTHER"), name: text("What the network calls it. The service can't send it") }),
]);

export const templateSchema = resource<ReturnType<typeof presentTemplate>>()(
  "Template",
  "A text with `{{placeholders}}`.",
  z.object({
    id: id("template"),
    organizationId: id("organization"),
    name: text("The template's name. On a network that approves templates, the name that it approved"),
    language: text("The template's language. On a network that approves templates, the language that it approved"),
    body: text("The text"),
    variables: z.array(z.string()).describe("The names of the placeholders, in the order of their first use"),
    wabaId: textOrNull("The account at the network that it belongs to. Null if it was never synced"),
    components: z
      .array(component)
      .nullable()
      .describe("Its parts, as the network has them. Null if it was never synced"),
    parameterFormat: z
      .enum(PARAMETER_FORMATS)
      .nullable()
      .describe("Whether the network's placeholders are numbers or names. Null if it was never synced"),
    network: groupOrNull("What the network says about it. Null if it was never synced", {
      id: text("The network's id of it"),
      status: text("Only `APPROVED` can be sent. `DELETED`: the network no longer has it"),
      category: textOrNull("Such as `UTILITY`"),
      quality: textOrNull("Such as `GREEN`"),
      rejectedReason: textOrNull("Why the network rejected it"),
      syncedAt: time("When this last changed"),
    }),
    createdAt: time("When it was created"),
    updatedAt: time("When it last changed"),
  }),
);

export const replySchema = resource<ReturnType<typeof presentReply>>()(
  "SavedReply",
  "A text that people fill in, change and send as an ordinary message. No network knows it.",
  z.object({
    id: id("saved reply"),
    name: text("What the picker shows"),
    shortcut: textOrNull("A short form that finds it. Unique in the organization"),
    content: text("The text, with its placeholders"),
    updatedAt: time("When it last changed"),
    createdBy: text("The id of the key or member that created it, or `operator`"),
  }),
);

export const labelSchema = resource<Label>()(
  "Label",
  "A name that an organization gives to chats, to find them again.",
  z.object({
    id: id("label"),
    name: text("Its name. Unique in the organization"),
    color: textOrNull("Its color, as `#rrggbb`. Null for none"),
    chats: count.describe("The number of chats that have it"),
  }),
);

export const queueSchema = resource<Queue>()(
  "Queue",
  "The messages of a chat that wait for delivery.",
  z.object({
    depth: count.describe("The number of waiting messages"),
    oldest: timeOrNull("The creation time of the oldest waiting message"),
    nextAttemptAt: timeOrNull("When the next attempt is due"),
    lastError: groupOrNull("Why the last attempt failed", {
      code: text("A stable code"),
      message: text("What happened"),
    }),
  }),
);

export const registrationSchema = resource<Awaited<ReturnType<typeof registerChannel>>["webhook"]>()(
  "WebhookRegistration",
  "The network's response to the registration of a webhook.",
  z.object({
    url: text("The URL for the network to call"),
    ok: yesOrNo("Whether the network accepted the webhook"),
    code: z.number().nullable().describe("The network's error code. Null after a success or without a response"),
    description: text("The network's own words"),
  }),
);

export const channelCheckSchema = resource<ChannelCheck>()(
  "ChannelCheck",
  "One check of a channel.",
  z.object({
    name: oneOf(
      CHECK_NAMES,
      "`credentials`: whether they can be decrypted and the network accepts them. `webhook`: whether the network calls this service. `network`: whether it responds, and lets the channel send",
    ),
    state: oneOf(
      CHECK_STATES,
      "`warns`: it works, but the network reports a problem. `unknown`: it could not be checked",
    ),
    found: text("The finding, for people"),
    advice: textOrNull("What to do. Null if nothing"),
  }),
);

export const resealedSchema = resource<Resealed>()(
  "Resealed",
  "The result of resealing the credentials.",
  z.object({
    resealed: count.describe("The number of channels and webhooks whose secrets are all sealed with the current key"),
    unreadable: z
      .array(z.string())
      .describe("The ids of the channels and webhooks with a secret that no configured key can decrypt"),
  }),
);
