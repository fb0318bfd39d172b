import { callObject, NEARBY } from "../calls/call-object.ts";
import type { Adapter } from "../channels/network/adapter.ts";
import { ADAPTERS, networkOf } from "../channels/registry.ts";
import { directory } from "../db/client.ts";
import { rowOf } from "../db/rows.ts";
import { channels } from "../db/schema.ts";
import type { ChannelNews } from "../model/channel-warning.ts";
import type { Inspection } from "../model/network.ts";
import { warnIfFails } from "../platform/log.ts";
import { type ChannelView, numbersOf, openColumn } from "./present-channel.ts";

export const CHECK_NAMES = ["credentials", "webhook", "network"] as const;
/** `warns`: it works, but the network reports a problem. `unknown`: it could not be checked. */
export const CHECK_STATES = ["ok", "warns", "fails", "unknown"] as const;

/** The result of one check. Its texts never contain a secret. */
export interface ChannelCheck {
  name: (typeof CHECK_NAMES)[number];
  state: (typeof CHECK_STATES)[number];
  found: string;
  /** What to do; null if nothing. */
  advice: string | null;
}

const LATER = "Check again in a minute";

/**
 * Checks a channel: whether its secrets can be decrypted, whether the network accepts them, whether the network's webhook
 * points to this service, and whether the channel may send. Calls the network, and changes nothing there. What the
 * network says of the channel changes the channel's health.
 * @throws ApiError `channel_not_found`
 */
export async function checkChannel(env: Env, { scope, origin }: ChannelView, id: string): Promise<ChannelCheck[]> {
  const row = await rowOf(directory(env), scope, channels, id, "channel_not_found");
  const { kind } = row;
  if (kind === "web") {
    const isReadable = (await openColumn(env, id, "identity_secret", row.identitySecret)) !== null;
    return [
      isReadable ? ok("credentials", "The identity secret can be decrypted") : unreadable("Rotate the identity secret"),
    ];
  }
  const [opened, verifyToken] = await Promise.all([
    openColumn(env, id, "credentials", row.credentials),
    openColumn(env, id, "verify_token", row.verifyToken),
  ]);
  const adapter: Adapter = ADAPTERS[kind];
  const brokenNow = async () => {
    const health = (await numbersOf(env, row))?.health;
    return health?.state === "broken" ? (health.reason ?? "The network gave no reason") : null;
  };
  if (opened === null || verifyToken === null) {
    const reason = "The credentials must be readable first";
    const credentials = unreadable("Enter all credentials again");
    return [credentials, unknown("webhook", reason, null), networkCheck(unasked(reason), {}, await brokenNow())];
  }
  const inspection = adapter.inspect
    ? await adapter.inspect(JSON.parse(opened), networkOf(env, kind))
    : unasked("This network can't be asked");
  const news = inspection.answer === "accepted" ? (inspection.news ?? {}) : {};
  if (Object.keys(news).length > 0) {
    const tell = () => callObject(env.CHANNELS, id, (channel) => channel.takeNews(id, news), NEARBY);
    await warnIfFails({ event: "channel_news_lost", channelId: id }, tell);
  }
  return [
    credentialsCheck(inspection),
    webhookCheck(inspection, `${origin}/hooks/${kind}/${id}`, adapter.registerWebhook !== undefined),
    networkCheck(inspection, news, await brokenNow()),
  ];
}

function credentialsCheck(inspection: Inspection): ChannelCheck {
  if (inspection.answer === "accepted") return ok("credentials", "The network accepts the credentials");
  if (inspection.answer === "none") return unknown("credentials", inspection.description, LATER);
  const found = `The network refuses the credentials: ${inspection.description}`;
  return { name: "credentials", state: "fails", found, advice: "Replace the credentials" };
}

function webhookCheck(inspection: Inspection, ours: string, canRegister: boolean): ChannelCheck {
  if (inspection.answer === "none") return unknown("webhook", inspection.description, LATER);
  if (inspection.answer === "refused") return unknown("webhook", "The network must accept the credentials first", null);
  const { webhook, lastError, unsent = [], silence, subscribe } = inspection;
  const enter = "nter the webhook's URL and verify token at the network";
  const either = subscribe === undefined ? "" : `, or e${enter}`;
  const advice = canRegister ? `Register the webhook${either}` : `E${enter}`;
  if (webhook === null) {
    const found = "No webhook is registered, so messages from contacts do not arrive";
    return { name: "webhook", state: "fails", found, advice };
  }
  if (webhook !== ours) {
    const found = `The webhook points elsewhere, to ${targetOf(webhook, ours)}`;
    return { name: "webhook", state: "fails", found, advice };
  }
  if (silence !== undefined) {
    const found = `The webhook points to this service, but ${silence}, so nothing arrives`;
    return { name: "webhook", state: "fails", found, advice: "Register the webhook" };
  }
  if (lastError !== null) {
    const found = `The webhook points to this service, but the network reports: ${lastError}`;
    return { name: "webhook", state: "warns", found, advice: "Look at the requests in the service's log" };
  }
  if (unsent.length === 0) return ok("webhook", "The webhook points to this service");
  const found = `The webhook points to this service, but was registered without ${unsent.join(", ")}`;
  const orSubscribe = subscribe === undefined ? advice : `${subscribe}, or register the webhook`;
  // Without messages, nothing of a contact arrives.
  return { name: "webhook", state: unsent.includes("messages") ? "fails" : "warns", found, advice: orSubscribe };
}

function networkCheck(
  inspection: Inspection,
  { state, warnings = [] }: ChannelNews,
  known: string | null,
): ChannelCheck {
  const broken = typeof state === "object" ? state.broken : known;
  if (broken !== null) {
    const advice =
      "Correct what the reason names. The service tries again automatically, and at once after new credentials";
    return { name: "network", state: "fails", found: `The network refuses the channel: ${broken}`, advice };
  }
  if (inspection.answer === "none") return unknown("network", inspection.description, LATER);
  if (warnings.length > 0) {
    const found = warnings.map(({ text }) => text).join(". ");
    return { name: "network", state: "warns", found, advice: "Look at the account's pages at the network" };
  }
  return ok("network", "The network responds");
}

/** The origin of another service's webhook, because its path may be a secret. */
function targetOf(webhook: string, ours: string): string {
  const origin = URL.parse(webhook)?.origin ?? "no valid URL";
  return origin === URL.parse(ours)?.origin ? "another path of this service" : origin;
}

function ok(name: ChannelCheck["name"], found: string): ChannelCheck {
  return { name, state: "ok", found, advice: null };
}

function unknown(name: ChannelCheck["name"], found: string, advice: string | null): ChannelCheck {
  return { name, state: "unknown", found, advice };
}

function unreadable(instead: string): ChannelCheck {
  const advice = `${instead}, or set CREDENTIALS_KEY_PREVIOUS to the previous key`;
  return { name: "credentials", state: "fails", found: "CREDENTIALS_KEY can't decrypt the channel's secrets", advice };
}

function unasked(description: string): Inspection {
  return { answer: "none", description };
}
