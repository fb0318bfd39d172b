import { wholeNumber } from "../arguments.ts";
import { command, ORGANIZATION_OPTION, PAGE_OPTIONS, YES_OPTION } from "../command.ts";
import { credentialsOf, replaced } from "../credentials.ts";
import { eraseUntilDone } from "../erase.ts";

const SETTINGS = {
  "phone-number-id": { type: "string", value: "digits", about: "whatsapp: the number's id at Meta" },
  "per-second": { type: "string", value: "n", about: "whatsapp, telegram: the channel's pace" },
  "allowed-origin": { type: "string", multiple: true, value: "origin", about: "web: a site that may embed the chat" },
} as const;

const ONCE = "The identity secret is in this answer alone: keep it now.";

const SECRETS = `The secrets of a network come from the environment: PARLEY_BOT_TOKEN for telegram, PARLEY_ACCESS_TOKEN
and PARLEY_APP_SECRET for whatsapp. One that is not there is asked for, or read as a line of standard input.`;

/** Channels, for the operator. */
export const channelCommands = [
  command({
    name: "channels list",
    about: "An organization's channels, oldest first, and whether they work",
    options: { ...ORGANIZATION_OPTION, ...PAGE_OPTIONS },
    async run({ options: { organization, page, limit }, service, out }) {
      const path = `/organizations/${await service.organization(organization)}/channels`;
      const { body } = await service.asOperator("GET", path, { query: { page, limit } });
      out.list(body, "channels", [
        ["ID", "id"],
        ["KIND", "kind"],
        ["NAME", "name"],
        ["HEALTH", "health.state"],
        ["SINCE", "health.since", "time"],
        ["REASON", "health.reason"],
      ]);
    },
  }),
  command({
    name: "channels create",
    about: "A new channel",
    details: `${SECRETS}\nOf a web channel the answer holds the identity secret, which is shown this once.`,
    options: {
      kind: { type: "string", required: true, value: "kind", about: "whatsapp, telegram or web" },
      name: { type: "string", required: true, value: "name", about: "the channel's name" },
      ...SETTINGS,
      ...ORGANIZATION_OPTION,
    },
    async run({ options, service, out }) {
      const { kind, name } = options;
      const path = `/organizations/${await service.organization(options.organization)}/channels`;
      const credentials = await credentialsOf(kind, options["phone-number-id"]);
      const { body } = await service.asOperator("POST", path, {
        body: { kind, name, credentials, settings: settingsOf(options) },
      });
      const { channel, ...secret } = body;
      out.record(body, { ...(channel as object), ...secret });
      if (secret.identitySecret) out.note(ONCE);
    },
  }),
  command({
    name: "channels show",
    about: "One channel, with its health and the webhook to enter at its network",
    operands: ["channel"],
    async run({ operands, service, out }) {
      const { body } = await service.asOperator("GET", `/channels/${operands.channel}`);
      out.record(body, body.channel);
    },
  }),
  command({
    name: "channels change",
    about: "Changes a channel's name, settings or single secrets",
    details: SECRETS,
    operands: ["channel"],
    options: {
      name: { type: "string", value: "name", about: "the name" },
      replace: {
        type: "string",
        multiple: true,
        value: "secret",
        about: "bot-token, access-token or app-secret: takes a new one",
      },
      ...SETTINGS,
    },
    async run({ operands, options, service, out }) {
      const credentials = await replaced(options.replace ?? [], options["phone-number-id"]);
      const { body } = await service.asOperator("PATCH", `/channels/${operands.channel}`, {
        body: { name: options.name, credentials, settings: settingsOf(options) },
      });
      out.record(body, body.channel);
    },
  }),
  command({
    name: "channels delete",
    about: "Erases a channel with its chats",
    operands: ["channel"],
    options: YES_OPTION,
    async run({ operands, options, service, out }) {
      const body = await eraseUntilDone(service, out, `/channels/${operands.channel}`, options.yes);
      out.record(body, body.channel);
    },
  }),
  command({
    name: "channels webhook",
    about: "Registers a telegram channel's webhook, and says what Telegram answered",
    operands: ["channel"],
    async run({ operands, service, out }) {
      const { body } = await service.asOperator("POST", `/channels/${operands.channel}/webhook`);
      out.record(body, body.webhook);
      return (body.webhook as { ok?: unknown } | undefined)?.ok === true ? 0 : 1;
    },
  }),
  command({
    name: "channels rotate",
    about: "A new identity secret for a web channel, shown this once",
    operands: ["channel"],
    options: { overlap: { type: "string", value: "seconds", about: "how long the old one still vouches (0)" } },
    async run({ operands, options: { overlap }, service, out }) {
      const { body } = await service.asOperator("POST", `/channels/${operands.channel}/identity-secret`, {
        body: { overlapSeconds: overlap && wholeNumber("overlap", overlap) },
      });
      out.record(body, body);
      out.note(ONCE);
    },
  }),
  command({
    name: "channels reseal",
    about: "Seals every channel's secrets anew that are not under the current CREDENTIALS_KEY",
    async run({ service, out }) {
      const { body } = await service.asOperator("POST", "/reseal");
      out.record(body, body);
    },
  }),
];

function settingsOf(options: { "per-second": string | undefined; "allowed-origin": string[] | undefined }) {
  const perSecond = options["per-second"];
  const allowedOrigins = options["allowed-origin"];
  if (perSecond === undefined && allowedOrigins === undefined) return undefined;
  return { perSecond: perSecond && wholeNumber("per-second", perSecond), allowedOrigins };
}
