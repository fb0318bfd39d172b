import { createChannel, createKey, createOrganization } from "../support/world/factories.ts";
import { type Case, same } from "./cases.ts";
import { MANY_CALLS } from "./floor-cases.ts";
import { CALLS } from "./many-calls.ts";
import { get } from "./request.ts";

/** Enough to keep the object busy: each has `CALLS` calls under way. */
const CONNECTIONS = 4;
/** The highest pace that an operator can set. */
const PER_SECOND = 1_000;

/** What one object can do at most. Each request makes `CALLS` calls, so a second has `CALLS` times as many calls. */
export const OBJECTS: Case[] = [
  objectCase(`${CALLS} admissions by one key's object`, async (place) => {
    const { secret } = await createKey(await createOrganization(place));
    return same(get("/admit", secret), 200);
  }),
  objectCase(`${CALLS} permits of one channel's object`, async (place) => {
    const settings = { perSecond: PER_SECOND };
    const { id } = await createChannel(await createOrganization(place), { kind: "telegram", settings });
    return same(get(`/permit/${id}`, ""), 200);
  }),
];

function objectCase(name: string, make: Case["make"]): Case {
  return { name, front: "direct", connections: CONNECTIONS, floor: MANY_CALLS, make };
}
