import {
  createChannel,
  createKey,
  createOrganization,
  createTemplate,
  type Organization,
} from "../support/world/factories.ts";
import { caller } from "../support/world/world.ts";
import { type Case, parley, unique } from "./cases.ts";
import { LOGGED, ONE_CALL, ONE_WRITE, TWO_ALONE, TWO_CALLS } from "./floor-cases.ts";
import { LITERAL_DEEP, LITERAL_LIST, LITERAL_SEND } from "./literal-cases.ts";
import type { Place } from "./place.ts";
import { authorized, get, post } from "./request.ts";
import { DELAYS } from "./server.ts";
import { lastPage, type Sizes, shown } from "./sizes.ts";

const CALLERS = 100;
/** Milliseconds in which a chat reports its activity. */
const REST_A_CHAT = 30;
const HELLO_BODY = '{"content":"Hello"}';

const LISTED = { floor: TWO_CALLS, literal: LITERAL_LIST };
const SENT = { floor: ONE_WRITE, literal: LITERAL_SEND };

export function listCases({ chat, longChat, hugeChat, keys }: Sizes): Case[] {
  const first: Case["make"] = (place) => list(place, chat);
  const last = (messages: number, compared: Pick<Case, "floor" | "literal">) =>
    parley(`list, last page of ${shown(messages)}`, compared, (place) =>
      list(place, messages, `?page=${lastPage(messages)}`),
    );
  return [
    parley(`list, page 1 of ${shown(chat)}`, LISTED, first),
    last(longChat, { floor: TWO_CALLS, literal: LITERAL_DEEP }),
    { ...last(hugeChat, { floor: TWO_CALLS }), scale: true },
    parley("poll of an unchanged page", LISTED, (place) => poll(place, chat)),
    parley(`list, ${keys} keys`, LISTED, async (place) => {
      const busy = await manyKeys(place, keys);
      return { request: (n) => get(busy(n).path, busy(n).secret), status: 200 };
    }),
    { ...parley("list, 100 callers", LISTED, first), connections: CALLERS },
    { ...parley("list, one connection", { floor: TWO_ALONE }, first), connections: 1 },
    ...DELAYS.map((ms) => delayed("list, one connection", ms, 1, first)),
    ...DELAYS.map((ms) => delayed("list, 100 callers", ms, CALLERS, first)),
  ];
}

export function sendCases({ keys }: Sizes): Case[] {
  return [
    parley("send", SENT, (place) => send(place, () => HELLO_BODY)),
    { ...parley("send, 100 callers", SENT, (place) => send(place, () => HELLO_BODY)), connections: CALLERS },
    parley("send with a template", SENT, async (place) => {
      const organization = await createOrganization(place);
      const body = "Hello {{name}}, order {{order}} is on its way.";
      const templateId = await createTemplate(organization, { body });
      const variables = { name: "Ada", order: 17 };
      return send(place, () => JSON.stringify({ content: "Shipped", templateId, variables }), {}, organization);
    }),
    parley("send with an Idempotency-Key", SENT, (place) =>
      send(place, () => HELLO_BODY, { "Idempotency-Key": () => unique() }),
    ),
    parley(`send, ${keys} keys`, { ...SENT, rest: keys * REST_A_CHAT }, async (place) => {
      const busy = await manyKeys(place, keys);
      return { request: (n) => post(busy(n).path, HELLO_BODY, authorized(busy(n).secret)), status: 201 };
    }),
    delayed("send, one connection", DELAYS[0], 1, (place) => send(place, () => HELLO_BODY)),
  ];
}

export const REFUSALS: Case[] = [
  parley("429: over the limit", { floor: LOGGED }, async (place) => {
    const rateLimit = { limit: 1, windowSeconds: 3_600 };
    const { secret } = await createKey(await createOrganization(place), { rateLimit });
    await (await place.ask("/api/v1/key", { headers: authorized(secret) })).arrayBuffer();
    return { request: () => get("/api/v1/chats", secret), status: 429 };
  }),
  parley("401: a forged key", { floor: LOGGED }, async (place) => {
    const { secret } = await createKey(await createOrganization(place));
    const forged = secret.slice(0, -1) + (secret.endsWith("A") ? "B" : "A");
    return { request: () => get("/api/v1/chats", forged), status: 401 };
  }),
  parley("401: a revoked key", { floor: ONE_CALL }, async (place) => {
    const { id, secret } = await createKey(await createOrganization(place));
    await caller(place, "/admin/v1", place.adminToken)("DELETE", `/keys/${id}`);
    return { request: () => get("/api/v1/chats", secret), status: 401 };
  }),
];

async function list(place: Place, messages: number, query = "") {
  const { path, secret } = await keyAndChat(place, messages);
  const bytes = get(path + query, secret);
  return { request: () => bytes, status: 200 };
}

async function poll(place: Place, messages: number) {
  const { path, secret } = await keyAndChat(place, messages);
  const first = await place.ask(path, { headers: authorized(secret) });
  await first.arrayBuffer();
  const tag = first.headers.get("ETag");
  if (tag === null) return { request: () => get(path, secret), status: 200, note: "no ETag: answered 200" };
  return { request: () => get(path, secret, { "If-None-Match": tag }), status: 304 };
}

async function send(
  place: Place,
  body: () => string,
  headers: Record<string, () => string> = {},
  organization?: Organization,
) {
  const { path, secret } = await keyAndChat(place, 0, organization);
  const request = () => {
    const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value()]));
    return post(path, body(), { ...authorized(secret), ...own });
  };
  return { request, status: 201 };
}

async function keyAndChat(place: Place, messages: number, given?: Organization) {
  const organization = given ?? (await createOrganization(place));
  const chatId = await place.chat(await createChannel(organization), messages);
  const { secret } = await createKey(organization);
  return { path: `/api/v1/chats/${chatId}/messages`, secret };
}

/** The service with each hop made longer. */
function delayed(name: string, ms: number, connections: number, make: Case["make"]): Case {
  return { name: `${name}, ${ms} ms a hop`, front: `delayed${ms}`, connections, make };
}

/** Keys, each with a chat of its own; the nth request is the next one's. */
async function manyKeys(place: Place, count: number) {
  const organization = await createOrganization(place);
  const channel = await createChannel(organization);
  const all: { path: string; secret: string }[] = [];
  while (all.length < count) {
    const chatId = await place.chat(channel, 40);
    const { secret } = await createKey(organization);
    all.push({ path: `/api/v1/chats/${chatId}/messages`, secret });
  }
  return (n: number) => all[n % count] as { path: string; secret: string };
}
