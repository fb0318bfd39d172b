import { setTimeout as delay } from "node:timers/promises";
import type { Ground } from "./ground.ts";
import { Parley } from "./parley.ts";
import { type Force, type Row, until } from "./storm.ts";
import { placesOf } from "./where-text-is.ts";

const CHATS = 30;
const MESSAGES = 3;
const PATIENCE_MS = 120_000;

/** An organization is deleted, the server killed meanwhile, and the deletion repeated: nothing is left of it. */
export async function deletion({ rounds, random, log }: Force, { server, telegram: network }: Ground): Promise<Row[]> {
  // What waits for delivery has to go too.
  network.weather = async () => "drop";
  const faults: string[] = [];
  let repeated = 0;
  let wasKilled = 0;
  const other = await Parley.begin(server);
  const otherChat = await other.chat((await other.channel("web")).id, "neighbor");
  await other.api("POST", `/chats/${otherChat}/messages`, { content: "of another organization" });
  for (let round = 1; round <= rounds; round++) {
    const canary = `canary${round}x${random.between(1e9, 9e9)}`;
    const parley = await Parley.begin(server);
    const channelIds = [(await parley.channel("web")).id, (await network.channel(parley)).id];
    const members = `/organizations/${parley.organizationId}/members`;
    await parley.admin("POST", members, { name: canary });
    const template = { name: canary, language: "en", body: canary };
    await parley.admin("POST", `/organizations/${parley.organizationId}/templates`, template);
    const chats = await Promise.all(
      Array.from({ length: CHATS }, async (_, n) => {
        const isWeb = n % 2 === 0;
        const address = isWeb ? `${canary}-${n}` : String(1_000_000 * round + n + 1);
        const chatId = await parley.chat(channelIds[isWeb ? 0 : 1] ?? "", address, canary);
        const send = () => parley.api("POST", `/chats/${chatId}/messages`, { content: canary, metadata: { canary } });
        await Promise.all(Array.from({ length: MESSAGES }, send));
        return chatId;
      }),
    );
    const path = `/organizations/${parley.organizationId}`;
    const first = parley.admin("DELETE", path);
    await delay(random.between(0, 250));
    await server.kill().gone;
    wasKilled += Number((await first).status === 0);
    await server.start();
    const isDone = await until(async () => {
      repeated++;
      // 404: the killed request had done it all.
      return [200, 404].includes((await parley.admin("DELETE", path)).status);
    }, PATIENCE_MS);
    if (!isDone) faults.push(`round ${round}: not done after ${PATIENCE_MS / 1_000} s`);
    faults.push(...(await leftovers(parley, canary, { chats, channelIds })).map((left) => `round ${round}: ${left}`));
    for (const place of await placesOf(canary, server.state)) faults.push(`round ${round}: canary in ${place}`);
    const { total } = await other.messages(otherChat);
    if (total !== 1) faults.push(`round ${round}: the other organization has ${total} messages`);
    if (round % 10 === 0) log(`  ${round} deletions`);
  }
  return [
    {
      test: "deletion with kills",
      howMany: `${rounds} organizations of ${CHATS} chats, ${server.kills} kills, ${wasKilled} amid the deletion`,
      held: `gone after ${repeated} repetitions: no route, no row of D1 and no object's file has its text; the other organization is whole`,
      faults,
    },
  ];
}

/** What the service still knows of an organization that was deleted. */
async function leftovers(
  parley: Parley,
  canary: string,
  { chats, channelIds }: { chats: string[]; channelIds: string[] },
): Promise<string[]> {
  const gone = [
    `/organizations/${parley.organizationId}`,
    ...channelIds.map((id) => `/channels/${id}`),
    ...chats.map((id) => `/chats/${id}`),
  ];
  const left: string[] = [];
  for (const path of gone) {
    const { status } = await parley.admin("GET", path);
    if (status !== 404) left.push(`${path} answered ${status}`);
  }
  const { status } = await parley.api("GET", "/key");
  if (status !== 401) left.push(`its key was answered ${status}`);
  const list = JSON.stringify((await parley.admin("GET", "/organizations?limit=100")).body);
  if (list.includes(parley.organizationId) || list.includes(canary)) left.push("it is listed");
  return left;
}
