import { createChannel, createKey, createOrganization } from "../support/world/factories.ts";
import { type Case, onceInARun, type Traffic } from "./cases.ts";
import type { Place } from "./fixtures.ts";
import { ASLEEP, ASLEEP_AND_QUERY } from "./floor-cases.ts";
import { authorized, get } from "./request.ts";
import type { Sizes } from "./sizes.ts";

/** Messages of each chat: two pages. */
const MESSAGES = 40;

/**
 * The first request in a while of a key and a chat, one connection. The server that is timed has just started, so no
 * object is in memory.
 */
export function coldCases({ asleep }: Sizes): Case[] {
  return [
    cold("list, key and chat were asleep", { floor: ASLEEP, goal: { to: ASLEEP, of: "p50", must: 2 } }, (place) =>
      sleepers(place, asleep),
    ),
    cold(
      "list, a key that was not used for an hour",
      { floor: ASLEEP_AND_QUERY, goal: { to: ASLEEP_AND_QUERY, of: "p50", must: 2 } },
      async (place) => {
        const traffic = await sleepers(place, asleep);
        await place.ageKeys(traffic.keyIds);
        return traffic;
      },
    ),
  ];
}

function cold(name: string, compared: Pick<Case, "floor" | "goal">, make: Case["make"]): Case {
  return { name, front: "parley", connections: 1, ...compared, make };
}

/** Keys and chats that are used once while the data is made, so that their objects have stored all that they keep. */
async function sleepers(place: Place, count: number): Promise<Traffic & { keyIds: string[] }> {
  const organization = await createOrganization(place);
  const channel = await createChannel(organization);
  const keyIds: string[] = [];
  const requests: string[] = [];
  while (requests.length < count) {
    const chatId = await place.chat(channel, MESSAGES);
    const { id, secret } = await createKey(organization);
    const path = `/api/v1/chats/${chatId}/messages`;
    await (await place.ask(path, { headers: authorized(secret) })).arrayBuffer();
    keyIds.push(id);
    requests.push(get(path, secret));
  }
  return { ...onceInARun(requests, 200), keyIds };
}
