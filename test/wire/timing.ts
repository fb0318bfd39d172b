import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { newId } from "../../src/ids.ts";
import { median, quantile } from "../bench/statistics.ts";
import { type Service, startService } from "./service.ts";

const USAGE = `npm run test:timing -- [options]

  --pairs <n>  how many times each is asked while the object of its chat is in memory (2000)
  --chats <n>  how many chats are asked for the first time, or after their objects have left the memory (300)
`;

/** The runtime lets an object go that nobody has called for ten seconds. */
const FORGOTTEN_AFTER_MS = 20_000;
const HARDLY_LIMITED = { limit: 3_600_000, windowSeconds: 3_600 };

const { values } = parseArgs({
  options: {
    pairs: { type: "string", default: "2000" },
    chats: { type: "string", default: "300" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) process.stdout.write(USAGE);
else await main(whole(values.pairs), whole(values.chats));

/**
 * `npm run test:timing`: whether the time of an answer tells a chat of another organization from one that is nobody's.
 * The two are asked in turn, each first as often as the other.
 */
async function main(pairs: number, chats: number): Promise<void> {
  const service = await startService();
  try {
    const ours = await tenant(service);
    const theirs = await tenant(service);
    const foreign: string[] = [];
    for (let n = 0; n < chats; n++) foreign.push(await theirs.usedChat(`contact-${n}`));
    const nobodys = foreign.map(() => newId("cht", null));
    const one = [foreign[0] ?? "", newId("cht", null)] as const;
    for (let n = 0; n < pairs / 10; n++) for (const id of one) await ours.timeOf(id);
    print(
      "asked again and again",
      await inTurn(
        ours,
        Array.from({ length: pairs }, () => one),
      ),
    );
    await delay(FORGOTTEN_AFTER_MS);
    // The key's own object is awake again.
    for (let n = 0; n < 100; n++) await ours.timeOf(one[1]);
    print(
      "asked for the first time",
      await inTurn(
        ours,
        foreign.slice(1).map((id, n) => [id, nobodys[n] ?? ""] as const),
      ),
    );
  } finally {
    await service.stop();
  }
}

type Tenant = Awaited<ReturnType<typeof tenant>>;

async function tenant({ url, secrets }: Service) {
  const request = async (method: string, path: string, token: string, body?: object) => {
    const sent = { method, headers: { Authorization: `Bearer ${token}` }, ...(body && { body: JSON.stringify(body) }) };
    const begun = performance.now();
    const response = await fetch(new URL(path, url), sent);
    const text = await response.text();
    return { ms: performance.now() - begun, status: response.status, body: JSON.parse(text) };
  };
  const made = async (path: string, body: object, token = secrets.ADMIN_TOKEN) => {
    const answer = await request("POST", path, token, body);
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}`);
    return answer.body;
  };
  const { organization } = await made("/admin/v1/organizations", { name: "Acme", owner: { name: "Ada" } });
  const below = `/admin/v1/organizations/${organization.id}`;
  const { channel } = await made(`${below}/channels`, { kind: "web", name: "web" });
  const { secret } = await made(`${below}/keys`, { name: "key", rateLimit: HARDLY_LIMITED });
  return {
    usedChat: async (address: string): Promise<string> => {
      const { chat } = await made(`${below}/chats`, { channelId: channel.id, contact: { address } });
      await made(`/api/v1/chats/${chat.id}/messages`, { content: "Hello" }, secret);
      return chat.id;
    },
    /** Milliseconds until a chat that is not ours is answered. */
    timeOf: async (id: string): Promise<number> => {
      const { ms, status } = await request("GET", `/api/v1/chats/${id}`, secret);
      if (status !== 404) throw new Error(`a chat that is not ours was answered ${status}`);
      return ms;
    },
  };
}

async function inTurn({ timeOf }: Tenant, pairs: (readonly [string, string])[]): Promise<[number[], number[]]> {
  const foreign: number[] = [];
  const nobodys: number[] = [];
  for (const [n, [theirs, noOnes]] of pairs.entries()) {
    if (n % 2 === 0) foreign.push(await timeOf(theirs));
    nobodys.push(await timeOf(noOnes));
    if (n % 2 === 1) foreign.push(await timeOf(theirs));
  }
  return [foreign, nobodys];
}

function print(what: string, [foreign, nobodys]: [number[], number[]]): void {
  const [one, other] = [median(foreign), median(nobodys)];
  const range = (times: number[]) => [0.25, 0.75].map((share) => quantile(times, share).toFixed(2)).join(" to ");
  process.stdout.write(
    `${what}, ${foreign.length} each: ${one.toFixed(2)} ms another's (half of them ${range(foreign)}), ` +
      `${other.toFixed(2)} ms nobody's (${range(nobodys)}); ratio ${(one / other).toFixed(3)}\n`,
  );
}

function whole(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new TypeError(`"${text}" is no whole number above 0`);
}
