import * as z from "zod";
import { channelPatch, newChannelBody } from "../../admin/channels.ts";
import { overlapBody } from "../../admin/overlap.ts";
import { CHANNEL_KINDS, KINDS } from "../../channels/kinds.ts";
import * as schemas from "../answers.ts";
import * as examples from "../examples.ts";
import { type JsonSchema, namesIn, takenBy } from "../json-schema.ts";
import { answered, type Body, type Operation } from "../operation.ts";
import { listed, pages } from "./lists.ts";

const { channel } = examples;
const tag = "Channels";
const oneChannel = z.object({ channel: schemas.channel });

/** What the kinds take, one after the other, for a text: `whatsapp { phoneNumberId, accessToken, appSecret }`. */
function perKind(fieldsOf: (kind: (typeof CHANNEL_KINDS)[number]) => string): string {
  return CHANNEL_KINDS.map((kind) => `${kind} ${fieldsOf(kind)}`).join("; ");
}

const credentials = perKind((kind) => {
  const names = Object.keys(KINDS[kind].credentials.shape);
  return names.length === 0 ? "none" : `\`{ ${names.join(", ")} }\``;
});
const settings = perKind((kind) => {
  const [[name, usual] = []] = Object.entries(KINDS[kind].defaults);
  return `\`{ ${name} }\` (${JSON.stringify(usual)} unless set)`;
});

const FIELDS: Record<string, string> = {
  botToken: "telegram: the bot's token, as BotFather gave it.",
  phoneNumberId: "whatsapp: Meta's id of the phone number.",
  accessToken: "whatsapp: the token of a system user of the account.",
  appSecret: "whatsapp: the secret of the app, which signs its webhooks.",
  allowedOrigins: "web: the sites that may embed it, as `https://example.com`.",
  perSecond: "whatsapp, telegram: how many calls a second go to the network.",
};

/** The fields of all kinds: which of them there are is the kind's own. */
function fieldsOfKinds(part: "credentials" | "settings"): JsonSchema {
  const all = CHANNEL_KINDS.flatMap((kind) => {
    const schema = KINDS[kind][part];
    const descriptions = Object.fromEntries(namesIn(schema).map((name) => [name, FIELDS[name] ?? `${kind}: ${name}.`]));
    return Object.entries(takenBy(schema, descriptions).properties ?? {});
  });
  return { properties: Object.fromEntries(all) };
}

const ofKinds = { credentials: fieldsOfKinds("credentials"), settings: fieldsOfKinds("settings") };

/** The body that names how long the old secret lives beside its successor. */
export const overlap: Body = {
  name: "Overlap",
  description: "How long the old secret lives on.",
  schema: overlapBody,
  descriptions: { overlapSeconds: "For how many seconds the old one counts beside the new one; 0 unless given." },
  example: { overlapSeconds: 86_400 },
  mayBeEmpty: true,
};

/** Channels and the secrets that they keep. */
export const channelOperations: readonly Operation[] = [
  {
    method: "post",
    path: "/organizations/{id}/channels",
    id: "createChannel",
    tag,
    summary: "Make a channel",
    description:
      "Adds a channel to an organization. Credentials are sealed at rest and never shown again but for their last four characters.",
    body: {
      name: "NewChannel",
      description: "A channel to make.",
      schema: newChannelBody,
      descriptions: {
        kind: "Which kind of channel it is. Never changes.",
        name: "What it is called; visitors of a web chat see it.",
        credentials: `What its network asks for: ${credentials}.`,
        settings: `What may be chosen: ${settings}.`,
      },
      keywords: ofKinds,
      example: {
        kind: "whatsapp",
        name: "Support",
        credentials: { phoneNumberId: "15550001111", accessToken: "EAAG…wxyz", appSecret: "0d6c…9f3a" },
      },
    },
    answers: [
      answered(
        201,
        "The channel; of a web channel also its identity secret, which no other answer holds.",
        z.object({
          channel: schemas.channel,
          identitySecret: z.string().exactOptional().describe("web: signs the ids of a site's own users"),
        }),
        { channel },
      ),
    ],
    errors: ["missing_field", "organization_not_found"],
  },
  {
    method: "get",
    path: "/organizations/{id}/channels",
    id: "listChannels",
    tag,
    summary: "List channels",
    description: "An organization's channels, oldest first.",
    query: pages,
    answers: listed("channels", schemas.channel, channel),
    errors: ["organization_not_found"],
  },
  {
    method: "get",
    path: "/channels/{id}",
    id: "readChannel",
    tag,
    summary: "Read a channel",
    description: "One channel, with its health, and the webhook to enter at the network.",
    answers: [answered(200, "The channel.", oneChannel, { channel })],
    errors: ["channel_not_found"],
  },
  {
    method: "patch",
    path: "/channels/{id}",
    id: "changeChannel",
    tag,
    summary: "Change a channel",
    description:
      "What is left out stays, single credentials and settings too. A broken channel is tried at once with new credentials.",
    body: {
      name: "ChannelPatch",
      description: "What to change.",
      schema: channelPatch,
      descriptions: {
        name: "What it is called.",
        credentials: `Single credentials of its kind: ${credentials}.`,
        settings: `Single settings of its kind: ${settings}. null is the default again.`,
      },
      keywords: ofKinds,
      example: { credentials: { accessToken: "EAAG…uvst" } },
    },
    answers: [answered(200, "The channel after the change.", oneChannel, { channel })],
    errors: ["missing_field", "channel_not_found"],
  },
  {
    method: "delete",
    path: "/channels/{id}",
    id: "deleteChannel",
    tag,
    summary: "Erase a channel",
    description:
      "Erases it with its chats and what waits in them. A 503 means that more is left: repeat the request. Once it was answered 200, a repetition is 404.",
    answers: [answered(200, "The channel, as it was.", oneChannel, { channel })],
    errors: ["channel_not_found"],
  },
  {
    method: "post",
    path: "/channels/{id}/webhook",
    id: "registerWebhook",
    tag,
    summary: "Register a webhook",
    description:
      "Has Telegram call this service with what comes for the channel. Other kinds are told by hand, and refused here.",
    answers: [
      answered(200, "What the network said.", z.object({ webhook: schemas.registration }), {
        webhook: { url: channel.webhook?.url ?? "", ok: true, code: null, description: "Webhook was set" },
      }),
    ],
    errors: ["channel_not_found"],
  },
  {
    method: "post",
    path: "/channels/{id}/identity-secret",
    id: "rotateIdentitySecret",
    tag,
    summary: "Rotate an identity secret",
    description: "A new secret that signs the ids of a site's own users, for a web channel.",
    body: overlap,
    answers: [
      answered(
        201,
        "The new secret, which no other answer holds.",
        z.object({ identitySecret: z.string().describe("Signs the ids of a site's own users") }),
        { identitySecret: "w9k3Xw0aYb81LmQzTk3Xw0aYb81LmQzT" },
      ),
    ],
    errors: ["channel_not_found"],
  },
  {
    method: "post",
    path: "/reseal",
    id: "reseal",
    tag,
    summary: "Reseal credentials",
    description:
      "Seals every credential anew that does not open under the current `CREDENTIALS_KEY`, after which the previous one is needed no more. May be repeated.",
    answers: [answered(200, "What became of them.", schemas.resealed, { resealed: 12, unreadable: [] })],
  },
];
