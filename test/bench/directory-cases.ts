import { createChannel, createKey, createOrganization } from "../support/world/factories.ts";
import { type Case, parley, same } from "./cases.ts";
import { ONE_QUERY, toBare } from "./floor-cases.ts";
import type { Place } from "./place.ts";
import { get } from "./request.ts";
import { type Sizes, shown } from "./sizes.ts";

const FLOOR = { floor: ONE_QUERY };
/** The share of chats in the first channel. */
const FIRST_SHARE = 0.7;

export function directoryCases({ chats: count, manyChats }: Sizes): Case[] {
  return [
    parley(`GET /chats, page 1 of ${shown(count)}`, { ...FLOOR, goal: toBare(0.3, 0.4) }, (place) =>
      chats(place, count, () => ""),
    ),
    parley(`GET /chats, near the end of ${shown(count)}`, FLOOR, (place) => chats(place, count, deep)),
    parley("GET /chats of one channel", FLOOR, (place) => chats(place, count, ({ second }) => `?channel=${second}`)),
    scale(`GET /chats, page 1 of ${shown(manyChats)}`, manyChats, () => ""),
    scale(`GET /chats, near the end of ${shown(manyChats)}`, manyChats, deep),
  ];
}

interface Walk {
  /** The id of the channel with the fewer chats. */
  second: string;
  /** The id of a chat near the end: a hundredth of the chats come after it. */
  late: string;
}

function deep({ late }: Walk): string {
  return `?before=${late}`;
}

/** A case for `--scale`. The directory has as many keys as the organization has chats. */
function scale(name: string, count: number, query: (walk: Walk) => string): Case {
  const make: Case["make"] = async (place) => {
    await place.once(`${count} keys`, async () => place.otherKeys(await createOrganization(place), count));
    return chats(place, count, query);
  };
  return { ...parley(name, FLOOR, make), scale: true };
}

async function chats(place: Place, count: number, query: (walk: Walk) => string) {
  const { secret, walk } = await place.once(`${count} chats`, () => fill(place, count));
  return same(get(`/api/v1/chats${query(walk)}`, secret), 200);
}

async function fill(place: Place, count: number) {
  const organization = await createOrganization(place);
  const first = await createChannel(organization);
  const second = await createChannel(organization, { kind: "whatsapp" });
  const inFirst = Math.round(count * FIRST_SHARE);
  const idOf = await place.chats(first, "visitor", inFirst);
  await place.chats(second, "4915", count - inFirst);
  const { secret } = await createKey(organization);
  return { secret, walk: { second: second.id, late: idOf(Math.floor(count / 100)) } };
}
