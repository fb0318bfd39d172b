import { withOtherEnd } from "../support/other-end.ts";
import {
  createChannel,
  createKey,
  createOrganization,
  createTemplate,
  type Organization,
} from "../support/world/factories.ts";
import { caller } from "../support/world/world.ts";
import {
  type Case,
  eachOnce,
  type Goal,
  inTurn,
  PER_SECOND,
  paced,
  parley,
  same,
  type Traffic,
  unique,
} from "./cases.ts";
import type { Place } from "./fixtures.ts";
import {
  BARE_LIST,
  BARE_LIST_ALONE,
  BARE_SEND_ALONE,
  bareSpread,
  FAR_CALL,
  FAR_MS,
  ONE_ALONE,
  ONE_CALL,
  ONE_WRITE,
  REFUSAL,
  toBare,
  WRITE_ALONE,
} from "./floor-cases.ts";
import { LITERAL_DEEP, LITERAL_LIST, LITERAL_SEND } from "./literal-cases.ts";
import { authorized, get, post } from "./request.ts";
import { DELAYS } from "./server.ts";
import { lastPage, type Sizes, shown } from "./sizes.ts";

const CALLERS = 100;
/** In this time most of many chats report their activity. */
const REST_MS = 6_000;
/** Requests of which one is a send and the others are lists. */
const IN_A_MIX = 10;
export const SEND = "send";
export const SEND_ALONE = "send, one connection";
const HELLO_BODY = '{"content":"Hello"}';

const LISTED = { floor: BARE_LIST, literal: LITERAL_LIST };
const LIST_ALONE: Goal = { to: ONE_ALONE, of: "p50", must: 1.2 };
const SENT = { floor: ONE_WRITE, literal: LITERAL_SEND };
const SENT_ALONE: Goal = { to: WRITE_ALONE, of: "p50", must: 1.6 };
/** One call takes 40 ms, and two one after the other 80. */
const FAR = { floor: FAR_CALL, goal: { to: null, of: "p50", must: 45 } } as const;
const FEW_CALLS: Goal = { to: null, of: "calls", must: 1.1 };

export function listCases({ chat, longChat, hugeChat, keys, manyKeys, pacedKeys }: Sizes): Case[] {
  const first: Case["make"] = (place) => list(place, chat);
  const mixed: Case["make"] = (place) => sendAmongLists(place, chat);
  const last = (messages: number, compared: Pick<Case, "floor" | "literal" | "goal">) =>
    parley(`list, last page of ${shown(messages)}`, compared, (place) =>
      list(place, messages, `?page=${lastPage(messages)}`),
    );
  return [
    parley(`list, page 1 of ${shown(chat)}`, { ...LISTED, goal: toBare(0.46) }, first),
    last(longChat, { floor: ONE_CALL, literal: LITERAL_DEEP, goal: toBare(0.36) }),
    { ...last(hugeChat, { floor: ONE_CALL }), scale: true },
    {
      ...parley(`search in ${shown(longChat)}, nothing found`, {}, (place) => search(place, longChat)),
      connections: 1,
    },
    parley("poll of an unchanged page", LISTED, (place) => poll(place, chat)),
    spread(keys, { goal: toBare(0.36) }),
    spread(manyKeys, {}),
    {
      ...parley(
        `calls a request: list, ${shown(pacedKeys)} keys and chats, ${PER_SECOND} a second each`,
        { goal: FEW_CALLS },
        (place) => listsOf(place, pacedKeys),
      ),
      ...paced(pacedKeys),
    },
    parley("mixed: one send among nine lists", { goal: toBare(0.33), followed: true }, mixed),
    { ...parley("mixed, one connection", {}, mixed), connections: 1 },
    parley(`mixed, ${shown(manyKeys)} keys and chats`, { rest: REST_MS, followed: true }, async (place) => {
      const busy = await busyKeys(place, manyKeys);
      return inTurn(
        busy.map(({ path, secret }, n) => (n % IN_A_MIX === 0 ? sent(path, secret) : get(path, secret))),
        200,
        201,
      );
    }),
    { ...parley("list, 100 callers", LISTED, first), connections: CALLERS },
    { ...parley("list, one connection", { floor: BARE_LIST_ALONE, goal: LIST_ALONE }, first), connections: 1 },
    ...DELAYS.map((ms) => distant("list", ms, { ...paced(1), ...(ms === FAR_MS && FAR) }, first)),
    ...DELAYS.map((ms) => distant("list, 100 callers", ms, { connections: CALLERS }, first)),
  ];
}

export function sendCases({ manyKeys }: Sizes): Case[] {
  return [
    parley(SEND, { ...SENT, goal: toBare(0.25), followed: true }, (place) => send(place, HELLO_BODY)),
    { ...parley("send, 100 callers", SENT, (place) => send(place, HELLO_BODY)), connections: CALLERS },
    parley("send with a template", { ...SENT, goal: { to: SEND, of: "rate", must: 0.9 } }, async (place) => {
      const organization = await createOrganization(place);
      const body = "Hello {{name}}, order {{order}} is on its way.";
      const templateId = await createTemplate(organization, { body });
      const variables = { name: "Ada", order: 17 };
      return send(place, JSON.stringify({ content: "Shipped", templateId, variables }), organization);
    }),
    parley("send with an Idempotency-Key", SENT, async (place) => {
      const { path, secret } = await keyAndChat(place, 0);
      return eachOnce(() => post(path, HELLO_BODY, { ...authorized(secret), "Idempotency-Key": unique() }), 201);
    }),
    parley(`send, ${shown(manyKeys)} keys and chats`, { ...SENT, rest: REST_MS, followed: true }, async (place) => {
      const busy = await busyKeys(place, manyKeys);
      return inTurn(
        busy.map(({ path, secret }) => sent(path, secret)),
        201,
      );
    }),
    {
      ...parley(SEND_ALONE, { floor: BARE_SEND_ALONE, goal: SENT_ALONE, followed: true }, (place) =>
        send(place, HELLO_BODY),
      ),
      connections: 1,
    },
    distant("send", FAR_MS, { ...paced(1), ...FAR }, (place) => send(place, HELLO_BODY)),
  ];
}

export const REFUSALS: Case[] = [
  parley("429: over the limit", { floor: REFUSAL, goal: toBare(0.9) }, async (place) => {
    const rateLimit = { limit: 1, windowSeconds: 3_600 };
    const { secret } = await createKey(await createOrganization(place), { rateLimit });
    await (await place.ask("/api/v1/key", { headers: authorized(secret) })).arrayBuffer();
    return same(get("/api/v1/chats", secret), 429);
  }),
  parley("401: a forged key", { floor: REFUSAL, goal: toBare(0.8) }, async (place) => {
    const { secret } = await createKey(await createOrganization(place));
    const forged = withOtherEnd(secret);
    return same(get("/api/v1/chats", forged), 401);
  }),
  parley("401: a revoked key", { floor: REFUSAL, goal: toBare(0.8) }, async (place) => {
    const { id, secret } = await createKey(await createOrganization(place));
    await caller(place, "/admin/v1", place.adminToken)("DELETE", `/keys/${id}`);
    return same(get("/api/v1/chats", secret), 401);
  }),
];

async function list(place: Place, messages: number, query = ""): Promise<Traffic> {
  const { path, secret } = await keyAndChat(place, messages);
  return same(get(path + query, secret), 200);
}

/** A search that reads as many messages as it may. */
function search(place: Place, messages: number): Promise<Traffic> {
  return list(place, messages, "?search=nowhere%20to%20be%20found");
}

/** One key and one chat, so each send changes the page that the next lists return. */
async function sendAmongLists(place: Place, messages: number): Promise<Traffic> {
  const { path, secret } = await keyAndChat(place, messages);
  const lists = Array.from({ length: IN_A_MIX - 1 }, () => get(path, secret));
  return inTurn([...lists, sent(path, secret)], 200, 201);
}

function sent(path: string, secret: string): string {
  return post(path, HELLO_BODY, authorized(secret));
}

async function poll(place: Place, messages: number): Promise<Traffic> {
  const { path, secret } = await keyAndChat(place, messages);
  const first = await place.ask(path, { headers: authorized(secret) });
  await first.arrayBuffer();
  const tag = first.headers.get("ETag");
  if (tag === null) throw new Error("A list has no ETag");
  return same(get(path, secret, { "If-None-Match": tag }), 304);
}

async function send(place: Place, body: string, organization?: Organization): Promise<Traffic> {
  const { path, secret } = await keyAndChat(place, 0, organization);
  return same(post(path, body, authorized(secret)), 201);
}

async function keyAndChat(place: Place, messages: number, given?: Organization) {
  const organization = given ?? (await createOrganization(place));
  const chatId = await place.chat(await createChannel(organization), messages);
  const { secret } = await createKey(organization);
  return { path: `/api/v1/chats/${chatId}/messages`, secret };
}

/** A warm case of the service, far from its objects. */
function distant(
  name: string,
  ms: number,
  more: Pick<Case, "connections" | "perSecond" | "floor" | "goal">,
  make: Case["make"],
): Case {
  return { name: `distance: ${name}, ${ms} ms each way`, front: `delayed${ms}`, warm: true, ...more, make };
}

/** Lists of many chats, each by a key of its own. */
function spread(count: number, compared: Pick<Case, "goal">): Case {
  return parley(`spread: list, ${shown(count)} keys and chats`, { floor: bareSpread(count), ...compared }, (place) =>
    listsOf(place, count),
  );
}

async function listsOf(place: Place, keys: number): Promise<Traffic> {
  const busy = await busyKeys(place, keys);
  return inTurn(
    busy.map(({ path, secret }) => get(path, secret)),
    200,
  );
}

/** Keys, each with a chat of its own. No two requests of such a case that are under way are the same. */
async function busyKeys(place: Place, count: number) {
  const organization = await createOrganization(place);
  const channel = await createChannel(organization);
  const all: { path: string; secret: string }[] = [];
  while (all.length < count) {
    const chatId = await place.chat(channel, 40);
    const { secret } = await createKey(organization);
    all.push({ path: `/api/v1/chats/${chatId}/messages`, secret });
  }
  return all;
}
