import { type ChannelKind, DESCRIPTIONS } from "../../../model/channel-kind.ts";
import { bad, type Check, type State } from "../check.ts";
import { secretsOf } from "../credentials.ts";
import { type Service, ServiceFault } from "../service.ts";
import { printable } from "../table.ts";
import { webhookChecks } from "./webhook-checks.ts";

interface Channel {
  id: string;
  kind: ChannelKind;
  name: string;
}

/** The result of one of the service's checks. */
interface ChannelCheck {
  name: "credentials" | "webhook" | "network";
  state: State;
  found: string;
  advice: string | null;
}

const PAGE = 100;
/** How many chats of a channel are checked, newest activity first. */
const MAX_CHATS = 5;

/**
 * Checks that channels work, that their networks call this service, and that the organizations' webhooks work.
 * @param only the only organization to check; all by default
 * @param demo the organization of `npm start`, whose examples don't work and needn't
 */
export async function channelChecks(service: Service, only: string | undefined, demo: string | null): Promise<Check[]> {
  const organizations = only ? [only] : await idsOf(service, "/organizations", "organizations");
  const checks: Check[] = [];
  for (const id of organizations) {
    const found: Check[] = [];
    for (const channel of await listAll<Channel>(service, `/organizations/${id}/channels`, "channels")) {
      found.push(...(await checksOf(service, channel)));
      if (channel.kind !== "web") found.push(...(await queueChecks(service, id, channel)));
    }
    found.push(...(await webhookChecks(service, id, Date.now())));
    checks.push(...(id === demo ? found.map(ofDemo) : found));
  }
  return checks;
}

/** What the service finds out about a channel. It asks the network. */
async function checksOf(service: Service, { id, kind, name }: Channel): Promise<Check[]> {
  const { body } = await service.asOperator("POST", `/channels/${id}/check`);
  return (body.checks as ChannelCheck[]).map(({ name: what, state, found, advice }) => ({
    what: `${what} of ${kind} channel ${printable(name)} (${id})`,
    state,
    found: printable(found),
    advice: adviceOn(state === "fails" ? commandFor(what, kind, id) : null, advice),
  }));
}

function adviceOn(command: string | null, advice: string | null): string | null {
  const parts = [advice && printable(advice), command].filter((part) => part !== null);
  return parts.length > 0 ? parts.join(": ") : null;
}

/** The command that does what the service advises, or null. */
function commandFor(what: ChannelCheck["name"], kind: Channel["kind"], id: string): string | null {
  if (what === "webhook") {
    return `parley channels ${DESCRIPTIONS[kind].webhook?.isRegistered ? "webhook" : "show"} ${id}`;
  }
  if (what === "network") return null;
  const [secret] = secretsOf(kind);
  return secret ? `parley channels change ${id} --replace ${secret.flag}` : `parley channels rotate ${id}`;
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

/** An example that doesn't work is not a fault of the setup. */
function ofDemo(check: Check): Check {
  return check.state === "fails" ? { ...check, what: `${check.what}, in the demo`, state: "warns" } : check;
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
