import * as z from "zod";
import { omit } from "zod/mini";
import { CHANNEL_KINDS, KINDS } from "../../channels/kinds.ts";
import { MAX_ORIGINS } from "../../channels/web/spec.ts";
import { channelPatch, newChannelBody } from "../../management/channels.ts";
import { overlapBody } from "../../management/overlap.ts";
import { AWAY_PAUSE_HOURS, MAX_AWAY_TEXT } from "../../model/away.ts";
import { NETWORKS, networkKinds } from "../../model/channel-kind.ts";
import { DEFAULT_HAND_OVER_SECONDS, MAX_HAND_OVER_SECONDS, MIN_HAND_OVER_SECONDS } from "../../model/handover.ts";
import { MAX_STOP_WORD, MAX_STOP_WORDS } from "../../model/stop-words.ts";
import { examples } from "../examples.ts";
import { fieldNames, type JsonSchema, requestSchema } from "../json-schema.ts";
import { jsonResponse, type OperationSpec, type RequestBodySpec, tagged } from "../operation.ts";
import { listResponse, pages } from "./lists.ts";
import { channelCheckSchema, channelSchema, registrationSchema, resealedSchema } from "./resources.ts";
import type { Side } from "./side.ts";

const { channel } = examples;
const oneChannel = z.object({ channel: channelSchema });

/** A list by kind for a description: `web none; sms { accountId, token }`. */
function perKind(fieldsOf: (kind: (typeof CHANNEL_KINDS)[number]) => string): string {
  return CHANNEL_KINDS.map((kind) => `${kind} ${fieldsOf(kind)}`).join("; ");
}

const credentials = perKind((kind) => {
  const names = Object.keys(KINDS[kind].credentials.shape);
  return names.length === 0 ? "none" : `\`{ ${names.join(", ")} }\``;
});
const settings = perKind((kind) => {
  const usual = Object.entries(KINDS[kind].defaults).map(([name, value]) => `\`${name}\` ${JSON.stringify(value)}`);
  return `\`{ ${Object.keys(KINDS[kind].defaults).join(", ")} }\` (default ${usual.join(", ")})`;
});

const FIELDS: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(NETWORKS).flatMap(([kind, { credentials: fields }]) =>
      fields.map(({ name, label, hint }) => [name, `${kind}: ${label}. ${hint}`]),
    ),
  ),
  allowedOrigins: `web: the sites that can embed the chat, such as \`https://example.com\`. At most ${MAX_ORIGINS}, unless the operator sets \`limits.origins\`.`,
  uploads:
    "web: who can send files: nobody (`off`), users that your site signed in (`verified`), or all visitors (`everyone`).",
  title: "web: the title of the page. Default: the channel's name.",
  greeting: "web: what an empty chat shows. It is not a message.",
  accentColor: "web: the color of the launcher and of buttons, as `#rrggbb`.",
  logoUrl: "web: a square picture beside the title.",
  starters: "web: first messages that a visitor can send with one tap.",
  texts: "web: your own texts in place of the page's, by language tag and name. At most 8 KiB as JSON.",
  hours:
    "When the company answers, by the clock of its time zone. A day without an entry is closed. Without hours the company always answers.",
  "hours.timeZone": "The time zone, such as `Europe/Berlin`.",
  "hours.week":
    "For each day, such as `monday`, its ranges in order: `{ opens, closes }`, such as `09:00` and `17:30`; `24:00` is the end of the day.",
  askContact:
    "web: when anonymous visitors are asked for their name and email address: `never`, after the first message (`afterFirst`), or outside of the hours (`whenClosed`).",
  away: `What a contact gets who writes outside of the hours, at most once in ${AWAY_PAUSE_HOURS} hours. Without \`hours\` nobody is. Default: none.`,
  "away.text": `The text, of at most ${MAX_AWAY_TEXT.toLocaleString("en")} characters.`,
  hideWhenClosed: "web: whether the launcher is hidden outside of the hours.",
  stopWords: `The texts with which a contact ends marketing, such as \`STOP\`: at most ${MAX_STOP_WORDS} of at most ${MAX_STOP_WORD} characters. A message that is exactly one of them, whatever its case, sets the chat's \`marketing.optedOut\`. Default: none.`,
  bot: "The key that answers new chats first, until people take a chat over. Default: none.",
  "bot.keyId":
    "A key of the organization with the permission `messages:send`. While people have a chat of this channel, its sends there are a 409 `handed_over`.",
  "bot.handOverAfterSeconds": `People get a chat when the bot has left the contact without an answer for this many seconds: ${MIN_HAND_OVER_SECONDS} to ${MAX_HAND_OVER_SECONDS.toLocaleString("en")}. Default: ${DEFAULT_HAND_OVER_SECONDS}.`,
  wabaId:
    "whatsapp: the id of the WhatsApp Business account that the channel's templates are synced from. Default: none.",
  perSecond: `${networkKinds()}: the maximum number of calls to the network per second.`,
};

/** The fields of all kinds together. Each kind has only some of them. */
function fieldsOfKinds(part: "credentials" | "settings"): JsonSchema {
  const all = CHANNEL_KINDS.flatMap((kind) => {
    const schema = KINDS[kind][part];
    const names = fieldNames(schema);
    const nested = Object.keys(FIELDS).filter((path) => path.includes(".") && names.includes(path.split(".")[0] ?? ""));
    const descriptions = Object.fromEntries(
      [...names, ...nested].map((name) => [name, FIELDS[name] ?? `${kind}: ${name}.`]),
    );
    return Object.entries(requestSchema(schema, descriptions).properties ?? {});
  });
  return { properties: Object.fromEntries(all) };
}

const registered = Object.entries(NETWORKS)
  .flatMap(([kind, { webhook }]) => (webhook.isRegistered ? [kind] : []))
  .join(", ");

const ofKinds = { credentials: fieldsOfKinds("credentials"), settings: fieldsOfKinds("settings") };

const limitsOf = {
  "limits.chats": "The maximum number of chats. Null: no limit.",
  "limits.origins": `web: the maximum number of entries in \`allowedOrigins\`. Null: ${MAX_ORIGINS}.`,
};

/** The body of a rotation. */
export const overlap: RequestBodySpec = {
  name: "Overlap",
  description: "How long the old secret stays valid.",
  schema: overlapBody,
  descriptions: { overlapSeconds: "How long the old secret stays valid, in seconds. Default: 0." },
  example: { overlapSeconds: 86_400 },
  mayBeEmpty: true,
};

export function channelOperations(side: Side): readonly OperationSpec[] {
  const { isOperator, prefix, whose } = side;
  const eraseToo = isOperator ? "" : " Setting it also needs `chats:erase`.";
  return tagged("Channels", [
    {
      route: `POST ${prefix}/channels`,
      id: "createChannel",
      summary: "Create a channel",
      description:
        "Creates a channel. Credentials are encrypted at rest. The API shows only their last four characters.",
      body: {
        name: "NewChannel",
        description: "The channel to create.",
        schema: isOperator ? newChannelBody : omit(newChannelBody, { limits: true }),
        descriptions: {
          kind: "The kind of channel. Never changes.",
          name: "The channel's name. Visitors of a web chat see it.",
          credentials: `The credentials for the network: ${credentials}.`,
          settings: `The settings: ${settings}.`,
          retentionDays: `After how many days messages are deleted. Null: never.${eraseToo}`,
          ...(isOperator && {
            limits: "The channel's limits.",
            ...limitsOf,
          }),
        },
        keywords: ofKinds,
        example: {
          kind: "whatsapp",
          name: "Support",
          credentials: { phoneNumberId: "15550001111", accessToken: "EAAG...wxyz", appSecret: "0d6c...9f3a" },
        },
      },
      responses: [
        jsonResponse(
          201,
          isOperator
            ? "The channel. For a web channel also its identity secret, which is shown only once."
            : "The channel. For a web channel also its identity secret, which is shown only once, and only to a key that can read and send messages.",
          z.object({
            channel: channelSchema,
            identitySecret: z
              .string()
              .exactOptional()
              .describe("web: the secret that signs the ids of a site's own users"),
          }),
          { channel },
        ),
      ],
      errors: ["missing_field", "channel_limit"],
    },
    {
      route: `GET ${prefix}/channels`,
      id: "listChannels",
      summary: "List channels",
      description: `Lists ${whose} channels, oldest first.`,
      query: pages,
      responses: listResponse("channels", channelSchema, channel),
    },
    {
      route: "GET /channels/{id}",
      id: "readChannel",
      summary: "Read a channel",
      description: `Returns one channel, with its health and the webhook to enter at the network.${isOperator ? "" : " The `verifyToken` is only for keys that may change channels, read and send messages, and have neither an end nor an allow-list."}`,
      responses: [jsonResponse(200, "The channel.", oneChannel, { channel })],
    },
    {
      route: "PATCH /channels/{id}",
      id: "changeChannel",
      summary: "Change a channel",
      description:
        "Changes the fields that the body has. Other fields, credentials and settings stay. With new credentials, a broken channel is tried again at once.",
      body: {
        name: "ChannelPatch",
        description: "The fields to change.",
        schema: isOperator ? channelPatch : omit(channelPatch, { limits: true }),
        descriptions: {
          name: "The channel's name.",
          credentials: `The credentials to change: ${credentials}.`,
          settings: `The settings to change: ${settings}. Null restores a default.`,
          retentionDays: `After how many days messages are deleted. It also applies to the messages that are stored already. Null: never.${eraseToo}`,
          ...(isOperator && {
            limits: "The limits to change. Others stay. Null resets them all.",
            ...limitsOf,
          }),
        },
        keywords: ofKinds,
        example: { credentials: { accessToken: "EAAG...uvst" } },
      },
      responses: [jsonResponse(200, "The changed channel.", oneChannel, { channel })],
      errors: ["missing_field"],
    },
    {
      route: "DELETE /channels/{id}",
      id: "deleteChannel",
      summary: "Delete a channel",
      description:
        "Deletes a channel with its chats and their waiting messages. A 503 means that more is left: repeat the request. After the 200, another request is a 404.",
      responses: [jsonResponse(200, "The deleted channel.", oneChannel, { channel })],
    },
    {
      route: "POST /channels/{id}/webhook",
      id: "registerWebhook",
      summary: "Register a webhook",
      description: `Registers this service at the network as the webhook of the channel. Only for ${registered}; other kinds of channels are a 400. A network calls the service to verify its address.`,
      responses: [
        jsonResponse(200, "The network's response.", z.object({ webhook: registrationSchema }), {
          webhook: { url: channel.webhook?.url ?? "", ok: true, code: null, description: "Webhook was set" },
        }),
      ],
    },
    {
      route: "POST /channels/{id}/check",
      id: "checkChannel",
      summary: "Check a channel",
      description:
        "Asks the network whether it accepts the channel's credentials, whether its webhook points to this service, and how the channel is. Changes nothing at the network; what the network reports becomes the channel's `health`. The network can take up to 10 seconds to respond.",
      responses: [
        jsonResponse(200, "The checks.", z.object({ checks: z.array(channelCheckSchema) }), {
          checks: [
            { name: "credentials", state: "ok", found: "The network accepts the credentials", advice: null },
            {
              name: "webhook",
              state: "fails",
              found: "No webhook is registered, so messages from contacts do not arrive",
              advice: "Register the webhook",
            },
            { name: "network", state: "ok", found: "The network responds", advice: null },
          ],
        }),
      ],
    },
    {
      route: "POST /channels/{id}/identity-secret",
      id: "rotateIdentitySecret",
      summary: "Rotate an identity secret",
      description: "Creates a new identity secret for a web channel. It signs the ids of a site's own users.",
      body: overlap,
      responses: [
        jsonResponse(
          201,
          "The new secret. It is shown only once.",
          z.object({ identitySecret: z.string().describe("The secret that signs the ids of a site's own users") }),
          { identitySecret: "w9k3Xw0aYb81LmQzTk3Xw0aYb81LmQzT" },
        ),
      ],
    },
  ]);
}

export const resealOperations = tagged("Channels", [
  {
    route: "POST /reseal",
    id: "reseal",
    summary: "Reseal credentials",
    description:
      "Encrypts every credential and webhook secret with the current `CREDENTIALS_KEY` that was encrypted with the previous one. If the response lists nothing as `unreadable`, you can delete the previous key. Safe to repeat.",
    responses: [jsonResponse(200, "The result.", resealedSchema, { resealed: 12, unreadable: [] })],
  },
]);
