import { newKeyText } from "../../../src/keys/key-text.ts";
import { type IdPrefix, newId, randomBase62 } from "../../../src/model/id.ts";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import {
  type Channel,
  CREDENTIALS,
  createChannel,
  createChat,
  createKey,
  createOrganization,
  createTemplate,
  type Organization,
} from "../../support/world/factories.ts";
import { type Answer, type World, wanted } from "../../support/world/world.ts";
import { bytesOf } from "./bodies.ts";
import type { Drawn } from "./requests.ts";
import { RECEIVER } from "./values.ts";

/** A response, with its body as text too. `body` is null unless it is JSON. */
export interface Told extends Answer {
  text: string;
}

/** What a request is made of besides its method and its path. */
interface Sent {
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer> | null;
}

/** Makes a request of a service that runs somewhere. */
export type Ask = (method: string, path: string, sent: Sent) => Promise<Told>;

type Proof = Record<string, string>;

const KEPT = 60;
/** What a browser says of a request that a page of the console makes. */
const OWN_PAGE = { "Sec-Fetch-Site": "same-origin" };
const PREFIXES: readonly IdPrefix[] = ["org", "mbr", "chn", "tpl", "cht", "msg", "note", "key", "whk"];
const encoder = new TextEncoder();

/** Two organizations with resources of each kind. The first one makes the requests. Their ids fill the drawn requests. */
export class Place {
  readonly #send: Ask;
  readonly #world: World;
  /** The ids of what was there before the first request, by prefix, and by kind of channel. */
  readonly #known = new Map<string, string[]>();
  /** The last that were made on the way. */
  readonly #born = new Map<string, string[]>();
  readonly #verifyTokens = new Map<string, string>();
  #keys = { right: "", narrow: "", other: "", forged: "" };
  /** The cookies of the operator, a member of each organization, and nobody. */
  #sessions = { right: "", narrow: "", other: "", forged: "" };

  private constructor(ask: Ask, adminToken: string) {
    this.#send = ask;
    const call: World["call"] = (token, method, path, body) => this.#asked(method, path, token, body ?? null);
    this.#world = { adminToken, call };
  }

  static async make(ask: Ask, adminToken: string): Promise<Place> {
    const place = new Place(ask, adminToken);
    await place.#furnish();
    return place;
  }

  /** Makes a request, and keeps the ids of what came to be. */
  async ask(drawn: Drawn): Promise<Told> {
    const { route, method, query, headers, caller } = drawn;
    const path = this.#fill(drawn.path);
    const body = method === "GET" || method === "HEAD" ? null : this.#bodyOf(drawn);
    const parts = [...query, ...this.#handshake(route, path, caller)];
    const search = parts.map(([name, value]) => `${encoded(name)}=${encoded(this.#fill(value))}`).join("&");
    const endsSession = method === "DELETE" && route.endsWith(" /console/session");
    const proof = endsSession
      ? { ...OWN_PAGE, Cookie: await this.#session({ token: this.#world.adminToken }) }
      : await this.#proofOf(route, path, caller, body ?? new Uint8Array());
    const told = await this.#send(method, path + (search && `?${search}`), { headers: { ...proof, ...headers }, body });
    if (told.status === 201 || told.status === 202) this.#keep(told.body);
    if (typeof told.body?.cursor === "string") this.#known.set("cur", [told.body.cursor]);
    return told;
  }

  /** A message of the place, as it is read. */
  async read({ chatId, id }: { chatId: string; id: string }): Promise<Told> {
    return this.#asked("GET", `/api/v1/chats/${chatId}/messages/${id}`, this.#keys.right, null);
  }

  /** What is gone of what the requests are about: without it they show little. */
  async gone(): Promise<string[]> {
    const paths = ["/api/v1/key", ...(this.#known.get("cht") ?? []).slice(0, 3).map((id) => `/api/v1/chats/${id}`)];
    const told = await Promise.all(paths.map((path) => this.#asked("GET", path, this.#keys.right, null)));
    const headers = { ...OWN_PAGE, Cookie: this.#sessions.right };
    const session = await this.#send("GET", "/console/api/session", { headers, body: null });
    return [...paths.filter((_, at) => told[at]?.status !== 200), ...(session.status === 200 ? [] : ["the session"])];
  }

  async #furnish(): Promise<void> {
    const [ours, theirs] = [await this.#newOrganization(), await this.#newOrganization()];
    const telegram = await this.#channel(ours, "telegram");
    const whatsapp = await this.#channel(ours, "whatsapp");
    const web = await this.#channel(ours, "web");
    const theirWeb = await this.#channel(theirs, "web");
    const chat = async (channel: Channel, address: string) => (await createChat(channel, { contact: { address } })).id;
    const chats = [
      await chat(web, "ada"),
      await chat(telegram, "4711"),
      await chat(whatsapp, "4915112345678"),
      await chat(theirWeb, "ada"),
    ];
    this.#keys = {
      right: (await createKey(ours, { permissions: PERMISSIONS })).secret,
      narrow: (await createKey(ours, { permissions: [] })).secret,
      other: (await createKey(theirs, { permissions: PERMISSIONS })).secret,
      forged: await newKeyText(newId("key", null), crypto.getRandomValues(new Uint8Array(32))),
    };
    const operator = await this.#session({ token: this.#world.adminToken });
    this.#sessions = {
      right: operator,
      narrow: await this.#session({ code: await this.#code(ours.memberId) }),
      other: await this.#session({ code: await this.#code(theirs.memberId) }),
      forged: `${operator.slice(0, -8)}AAAAAAA=`,
    };
    const messages: string[] = [];
    for (const id of [...chats.slice(0, 3), ...chats.slice(0, 3)]) {
      const sent = await this.#asked("POST", `/api/v1/chats/${id}/messages`, this.#keys.right, { content: "Hello" });
      messages.push(wanted(201, sent).message.id);
    }
    messages.push(await this.#photo(telegram.id, chats[1] ?? ""));
    const webhooks = [await this.#webhook(ours, 1), await this.#webhook(ours, 2), await this.#webhook(theirs, 1)];
    const events = await this.#events(chats[0] ?? "");
    const template = (body: string) => createTemplate(ours, { name: "t", body });
    const known: Record<string, string[]> = {
      org: [ours.id],
      own: [ours.id],
      mbr: [ours.memberId, theirs.memberId],
      chn: [web, telegram, whatsapp, theirWeb].map(({ id }) => id),
      tgm: [telegram.id, telegram.id, whatsapp.id],
      wap: [whatsapp.id, whatsapp.id, telegram.id],
      web: [web.id, theirWeb.id, telegram.id],
      tpl: [await template("Hi {{name}}"), await template("Hi")],
      rpy: [await this.#reply(ours), await this.#reply(theirs)],
      lbl: [await this.#label(ours), await this.#label(theirs)],
      cht: chats,
      msg: messages,
      key: [(await createKey(ours)).id],
      whk: webhooks,
      evt: events.map(({ id }) => id),
      cur: [await this.#cursor()],
    };
    for (const [name, ids] of Object.entries(known)) this.#known.set(name, ids);
  }

  /** Signs a person in to the console; the cookie. */
  async #session(body: object): Promise<string> {
    const headers = { ...OWN_PAGE, "Content-Type": "application/json" };
    const told = await this.#send("POST", "/console/session", {
      headers,
      body: bytesOf({ text: JSON.stringify(body) }),
    });
    wanted(204, told);
    return told.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  }

  /** The code of a new sign-in link of a member. */
  async #code(memberId: string): Promise<string> {
    const path = `/admin/v1/members/${memberId}/sign-in-link`;
    const { url } = wanted(201, await this.#asked("POST", path, this.#world.adminToken, null));
    return new URLSearchParams(new URL(url).hash.slice(1)).get("code") ?? "";
  }

  /** A photo that a contact sent; the message's id. */
  async #photo(channelId: string, chatId: string): Promise<string> {
    const photo = [{ file_id: "photo-1", width: 1, height: 1 }];
    const message = { message_id: 1, chat: { id: 4711 }, photo };
    const body = bytesOf({ text: JSON.stringify({ update_id: 1, message }) });
    const headers = { "X-Telegram-Bot-Api-Secret-Token": this.#verifyTokens.get(channelId) ?? "" };
    await this.#send("POST", `/hooks/telegram/${channelId}`, { headers, body });
    const listed = await this.#asked("GET", `/api/v1/chats/${chatId}/messages`, this.#keys.right, null);
    return listed.body.messages.find((each: { direction: string }) => each.direction === "INBOUND").id;
  }

  /** The events of a chat. */
  async #events(chatId: string): Promise<{ id: string }[]> {
    return (await this.#asked("GET", `/api/v1/chats/${chatId}/events`, this.#keys.right, null)).body.events;
  }

  /** The end of the feed. */
  async #cursor(): Promise<string> {
    return wanted(200, await this.#asked("GET", "/api/v1/events?from=now", this.#keys.right, null)).cursor;
  }

  /** A new webhook; its id. */
  async #webhook({ id }: Organization, nth: number): Promise<string> {
    const body = { url: `https://${RECEIVER}/first/${nth}` };
    const path = `/admin/v1/organizations/${id}/webhooks`;
    return wanted(201, await this.#asked("POST", path, this.#world.adminToken, body)).webhook.id;
  }

  /** A new saved reply; its id. */
  async #reply({ id }: Organization): Promise<string> {
    const path = `/admin/v1/organizations/${id}/replies`;
    const body = { name: "Bye", content: "Bye {{contact.name}}" };
    return wanted(201, await this.#asked("POST", path, this.#world.adminToken, body)).reply.id;
  }

  /** A new label; its id. */
  async #label({ id }: Organization): Promise<string> {
    const path = `/admin/v1/organizations/${id}/labels`;
    return wanted(201, await this.#asked("POST", path, this.#world.adminToken, { name: "Refund" })).label.id;
  }

  async #channel(organization: Organization, kind: Channel["kind"]): Promise<Channel> {
    const channel = await createChannel(organization, {
      kind,
      ...(kind !== "web" && { settings: { perSecond: 1_000 } }),
    });
    if (channel.webhook) this.#verifyTokens.set(channel.id, channel.webhook.verifyToken);
    return channel;
  }

  #newOrganization() {
    return createOrganization(this.#world, { search: { on: true } });
  }

  #asked(method: string, path: string, token: string, body: object | null): Promise<Told> {
    const text = body && bytesOf({ text: JSON.stringify(body) });
    return this.#send(method, path, { headers: { Authorization: `Bearer ${token}` }, body: text });
  }

  #bodyOf({ body }: Drawn): Uint8Array<ArrayBuffer> | null {
    return body && bytesOf("text" in body ? { text: this.#fill(body.text) } : body);
  }

  /** What proves who asks: a key, the operator's token, what a network sends; or what is none of these. */
  async #proofOf(route: string, path: string, caller: Drawn["caller"], body: Uint8Array<ArrayBuffer>): Promise<Proof> {
    if (route.includes(" /hooks/")) return this.#signed(route, path, caller, body);
    if (route.endsWith("/socket")) {
      const identity = caller === "right" ? `token.${randomBase62(22)}` : "user.YWRh.00";
      return { Upgrade: "websocket", "Sec-WebSocket-Protocol": `parley.v1, ${identity}` };
    }
    if (route === "POST /web/:channelId/media") {
      return { Authorization: `Bearer ${caller === "right" ? `token.${randomBase62(22)}` : "user.YWRh.00"}` };
    }
    if (route.includes(" /console")) return this.#cookieOf(caller);
    const guard = route.includes(" /admin/") ? this.#world.adminToken : this.#keys.right;
    if (caller === "nobody") return {};
    if (caller === "odd") return { Authorization: `Bearer ${guard} x, Basic e` };
    return { Authorization: `Bearer ${caller === "right" ? guard : this.#keys[caller]}` };
  }

  #cookieOf(caller: Drawn["caller"]): Proof {
    if (caller === "nobody") return OWN_PAGE;
    const Cookie = caller === "odd" ? `${this.#sessions.right}; ${this.#sessions.right}` : this.#sessions[caller];
    return { ...OWN_PAGE, Cookie };
  }

  async #signed(route: string, path: string, caller: Drawn["caller"], body: Uint8Array<ArrayBuffer>): Promise<Proof> {
    if (caller === "nobody") return {};
    if (route.includes("/telegram/")) return { "X-Telegram-Bot-Api-Secret-Token": this.#verifyToken(path, caller) };
    return {
      "X-Hub-Signature-256": await signatureOf(body, caller === "right" ? CREDENTIALS.whatsapp.appSecret : "another"),
    };
  }

  #handshake(route: string, path: string, caller: Drawn["caller"]): [string, string][] {
    if (route !== "GET /hooks/whatsapp/:channelId" || caller === "nobody") return [];
    const shown = this.#verifyToken(path, caller);
    return Object.entries({ "hub.mode": "subscribe", "hub.verify_token": shown, "hub.challenge": "1158201444" });
  }

  #verifyToken(path: string, caller: Drawn["caller"]): string {
    const token = this.#verifyTokens.get(path.slice(path.lastIndexOf("/") + 1)) ?? "none";
    return caller === "right" ? token : token.slice(1);
  }

  /** Puts the ids of the place where a drawn request names them. */
  #fill(text: string): string {
    return text.replace(
      /@(?:(born)-)?(\w{3}|nobody):(\d\d?)/g,
      (_all, born: string | undefined, name: string, nth: string) => this.#id(name, Number(nth), born !== undefined),
    );
  }

  #id(name: string, nth: number, isBorn: boolean): string {
    const born = this.#born.get(name) ?? [];
    const known = isBorn ? [] : (this.#known.get(name) ?? []);
    const ids = known.length > 0 && (nth < 70 || born.length === 0) ? known : born;
    const prefix = PREFIXES.find((each) => each === name) ?? PREFIXES[nth % PREFIXES.length] ?? "cht";
    return ids[nth % ids.length] ?? newId(prefix, null);
  }

  #keep(body: Told["body"]): void {
    const { organization, member, channel, template, chat, message, key, webhook, replay, reply, label } = body ?? {};
    const resources = { org: organization, mbr: member, chn: channel, tpl: template, cht: chat, msg: message, key };
    const made = { ...resources, whk: webhook, rpl: replay, rpy: reply, lbl: label };
    for (const [prefix, one] of Object.entries(made)) {
      if (typeof one?.id !== "string") continue;
      this.#born.set(prefix, [...(this.#born.get(prefix) ?? []).slice(1 - KEPT), one.id]);
    }
  }
}

/** `X-Hub-Signature-256` as Meta makes it. */
async function signatureOf(body: Uint8Array<ArrayBuffer>, secret: string): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  const bytes = [...new Uint8Array(await crypto.subtle.sign("HMAC", key, body))];
  return `sha256=${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Percent-encoded; a lone surrogate, which has no such form, as a broken one. */
function encoded(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : "%ED%A0";
}
