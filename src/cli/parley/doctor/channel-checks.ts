import { devVariables } from "../connection.ts";
import { type Service, ServiceFault } from "../service.ts";
import { printable } from "../table.ts";
import { relativeTime } from "../times.ts";
import { bad, type Check, ok } from "./check.ts";
import { askTelegram, askWhatsApp, BASES, type NetworkAnswer } from "./networks.ts";
import { visitorCheck } from "./visitor-check.ts";
import { webhookChecks } from "./webhook-checks.ts";

/** A channel in the operator's API. */
interface Channel {
  id: string;
  kind: "telegram" | "whatsapp" | "web";
  name: string;
  credentials?: Record<string, string>;
  webhook?: { url: string; verifyToken: string | null };
  health: { state: "ok" | "broken"; reason: string | null; since: string };
}

type Environment = Record<string, string | undefined>;

const PAGE = 100;
/** How many chats of a channel are checked, newest activity first. */
const MAX_CHATS = 5;
const SECRET_OF = { telegram: "bot-token", whatsapp: "access-token" } as const;

/** Checks that channels work, that their networks call this service, and that the organizations' webhooks work. */
export async function channelChecks(
  service: Service,
  env: Environment,
  organization: string | undefined,
): Promise<Check[]> {
  const organizations = organization ? [organization] : await idsOf(service, "/organizations", "organizations");
  const bases = await basesOf(service, env);
  const checks: Check[] = [];
  for (const id of organizations) {
    for (const channel of await listAll<Channel>(service, `/organizations/${id}/channels`, "channels")) {
      if (channel.kind === "web") {
        checks.push(await visitorCheck(service, channel.id, nameOf(channel)));
        continue;
      }
      checks.push(healthCheck(channel, Date.now()), ...(await queueChecks(service, id, channel)));
      checks.push(...networkChecks(channel, await askNetwork(channel, bases, env)));
    }
    checks.push(...(await webhookChecks(service, id, Date.now())));
  }
  return checks;
}

function healthCheck(channel: Channel, now: number): Check {
  const { id, kind, health, webhook } = channel;
  const what = nameOf(channel);
  const replace = `parley channels change ${id} --replace ${kind === "web" ? "" : SECRET_OF[kind]}`;
  if (webhook?.verifyToken === null) {
    const advice = `set CREDENTIALS_KEY_PREVIOUS to the previous key and run parley channels reseal, or replace its secrets`;
    return bad(what, "fails", "its secrets can't be decrypted with CREDENTIALS_KEY", advice);
  }
  if (health.state === "ok") return ok(what, `works; last change ${relativeTime(health.since, now)}`);
  const reason = printable(health.reason ?? "no reason");
  return bad(
    what,
    "fails",
    `is broken since ${relativeTime(health.since, now)}: ${reason}`,
    `if it is the token, ${replace}`,
  );
}

/** Finds messages that wait after an error, in the chats with the latest activity. */
async function queueChecks(service: Service, organization: string, channel: Channel): Promise<Check[]> {
  const query = { channel: channel.id, limit: MAX_CHATS };
  const { body } = await service.asOperator("GET", `/organizations/${organization}/chats`, { query });
  const checks: Check[] = [];
  for (const { id } of body.chats as { id: string }[]) {
    const { queue } = (await service.asOperator("GET", `/chats/${id}`)).body as {
      queue: { depth: number; lastError: { code: string; message: string } | null };
    };
    if (queue.depth === 0 || queue.lastError === null) continue;
    const found = `${queue.depth} queued: ${printable(`${queue.lastError.code}: ${queue.lastError.message}`)}`;
    checks.push(bad(`messages of ${id}`, "warns", found, `parley chats show ${id} shows the next attempt`));
  }
  return checks;
}

function networkChecks(channel: Channel, answer: NetworkAnswer | "not asked"): Check[] {
  const { id, kind } = channel;
  const what = `${kind === "telegram" ? "Telegram" : "Meta"} about ${id}`;
  if (answer === "not asked") {
    const variables = kind === "telegram" ? "PARLEY_BOT_TOKEN" : "PARLEY_ACCESS_TOKEN and PARLEY_PHONE_NUMBER_ID";
    return [bad(what, "unknown", "webhook not checked", `set ${variables} to check it`)];
  }
  if (answer.answer === "none") return [bad(what, "unknown", printable(answer.reason), "run doctor again later")];
  if (answer.answer === "refused") {
    const name = kind === "web" ? "" : SECRET_OF[kind];
    return [
      bad(what, "fails", `the token is refused: ${answer.reason}`, `parley channels change ${id} --replace ${name}`),
    ];
  }
  return [ok(what, "the token works"), webhookCheck(channel, answer)];
}

function webhookCheck(channel: Channel, { webhook, lastError }: Extract<NetworkAnswer, { answer: "works" }>): Check {
  const { id, kind } = channel;
  const what = `webhook of ${id}`;
  const ours = channel.webhook?.url ?? "";
  const advice =
    kind === "telegram" ? `parley channels webhook ${id}` : `enter ${ours} as callback URL in the app at Meta`;
  if (webhook === null) return bad(what, "fails", "none is registered, so messages from contacts don't arrive", advice);
  if (webhook !== ours) return bad(what, "fails", `points elsewhere, to ${targetOf(webhook, ours)}`, advice);
  if (lastError === null) return ok(what, "points to this service");
  return bad(
    what,
    "warns",
    `points to this service, but the network reports: ${lastError}`,
    "see the calls in the service's log",
  );
}

/** The origin of another service's webhook, because its path may be a secret. */
function targetOf(webhook: string, ours: string): string {
  const origin = URL.parse(webhook)?.origin ?? "no address";
  return origin === URL.parse(ours)?.origin ? "another path of this service" : printable(origin);
}

/** Asks the network with the environment's secrets, if their last four characters match the channel's. */
async function askNetwork(
  { kind, credentials = {} }: Channel,
  bases: Record<"telegram" | "whatsapp", string>,
  env: Environment,
): Promise<NetworkAnswer | "not asked"> {
  const known = (variable: string, field: string) => {
    const value = env[variable]?.trim();
    return value && value.slice(-4) === credentials[field] ? value : null;
  };
  if (kind === "telegram") {
    const token = known("PARLEY_BOT_TOKEN", "botToken");
    return token ? askTelegram(bases.telegram, token) : "not asked";
  }
  const token = known("PARLEY_ACCESS_TOKEN", "accessToken");
  const number = known("PARLEY_PHONE_NUMBER_ID", "phoneNumberId");
  return token && number && /^\d+$/.test(number) ? askWhatsApp(bases.whatsapp, number, token) : "not asked";
}

/** The networks' addresses: from the environment, else from `.dev.vars` if the service runs on this machine. */
async function basesOf({ connection }: Service, env: Environment) {
  const variables = connection.isHere ? await devVariables(connection.root) : null;
  const baseOf = ({ variable, defaultUrl }: { variable: string; defaultUrl: string }) =>
    env[variable] || variables?.[variable] || defaultUrl;
  return { telegram: baseOf(BASES.telegram), whatsapp: baseOf(BASES.whatsapp) };
}

function nameOf({ id, kind, name }: Channel): string {
  return `${kind} channel ${printable(name)} (${id})`;
}

async function idsOf(service: Service, path: string, name: string): Promise<string[]> {
  return (await listAll<{ id: string }>(service, path, name)).map(({ id }) => id);
}

/** All rows of a list in the operator's API. None if its parent was deleted meanwhile. */
async function listAll<T>(service: Service, path: string, name: string): Promise<T[]> {
  const rows: T[] = [];
  for (let page = 1; ; page++) {
    try {
      const { body } = await service.asOperator("GET", path, { query: { page, limit: PAGE } });
      rows.push(...(body[name] as T[]));
      if (!(body.pagination as { hasMore: boolean }).hasMore) return rows;
    } catch (error) {
      if (error instanceof ServiceFault && error.status === 404) return rows;
      throw error;
    }
  }
}
