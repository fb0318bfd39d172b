import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { newId } from "../../src/model/id.ts";
import { median, quantile } from "../bench/statistics.ts";
import { createChannel, createChat, createKey, createOrganization } from "../support/world/factories.ts";
import { startService } from "../support/world/service.ts";
import { caller, type World, wanted } from "../support/world/world.ts";

const USAGE = `npm run test:long -- timing [options]

  --pairs <n>  how many times each is asked while the object of its chat is in memory (2000)
  --chats <n>  how many chats are asked for the first time, or after their objects have left the memory (300)
`;

/** The runtime evicts an object that was not called for ten seconds. */
const FORGOTTEN_AFTER_MS = 20_000;

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
 * `npm run test:long -- timing`: whether the response time tells a chat of another organization from one that does not
 * exist. The two requests alternate, and each comes first equally often.
 */
async function main(pairs: number, chats: number): Promise<void> {
  const service = await startService();
  try {
    const ours = await tenant(service.world);
    const theirs = await tenant(service.world);
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
    // The key's object is running again.
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

/** An organization with a web channel, and a client with a key. */
async function tenant(world: World) {
  const organization = await createOrganization(world);
  const channel = await createChannel(organization);
  const { secret } = await createKey(organization);
  const client = caller(world, "/api/v1", secret);
  return {
    usedChat: async (address: string): Promise<string> => {
      const { id } = await createChat(channel, { contact: { address } });
      await client("POST", `/chats/${id}/messages`, { content: "Hello" });
      return id;
    },
    /** Milliseconds until the response about a chat of another organization. */
    timeOf: async (id: string): Promise<number> => {
      const begun = performance.now();
      const answer = await world.call(secret, "GET", `/api/v1/chats/${id}`);
      const ms = performance.now() - begun;
      wanted(404, answer);
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
