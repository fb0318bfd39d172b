import { env, exports } from "cloudflare:workers";
import { expect } from "vitest";
import { addressOfToken } from "../../src/channels/web/identity.ts";
import { randomBase62 } from "../../src/model/id.ts";
import { webChatId } from "../../src/model/visitor.ts";
import { plant } from "./canaries.ts";
import { admin, created, newOrganization } from "./harness.ts";

export { asUser, signUser, signUserUntil } from "./site-users.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test knows the type of its frames
export type Frame = any;

export interface Visit {
  token?: string;
  /** All subprotocols, instead of the token's. */
  protocols?: string[];
  after?: number | string;
  events?: number | string;
  origin?: string;
  /** The visitor's address. By default, each visitor has a different one. */
  from?: string;
  headers?: Record<string, string>;
}

let visitors = 0;

/** A different network for each visitor, so that no test reaches the limit for new chats by accident. */
function elsewhere(): string {
  visitors++;
  return `10.${visitors >> 16}.${(visitors >> 8) & 255}.${visitors & 255}`;
}

export function newToken(): string {
  const token = randomBase62(22);
  plant(token);
  return token;
}

/** The page's end of a visitor's socket. Frames and the close are awaited in the order of arrival. */
export class Page {
  readonly #socket: WebSocket;
  readonly #frames: Frame[] = [];
  readonly #waiting: ((frame: Frame) => void)[] = [];
  readonly closed: Promise<number>;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#push(JSON.parse(String(data))));
    this.closed = new Promise((resolve) => {
      socket.addEventListener("close", ({ code }) => {
        // Shows a test that waits for a frame why none arrives.
        this.#push({ closed: code });
        resolve(code);
      });
    });
    socket.accept();
  }

  #push(frame: Frame): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(frame);
    else this.#frames.push(frame);
  }

  /** The next frame, or `{ closed: code }` after the last one. */
  next(): Promise<Frame> {
    const frame = this.#frames.shift();
    return frame === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(frame);
  }

  send(frame: Frame): void {
    this.#socket.send(typeof frame === "string" || frame instanceof ArrayBuffer ? frame : JSON.stringify(frame));
  }

  /** Sends a frame and returns the next one that arrives. */
  ask(frame: Frame): Promise<Frame> {
    this.send(frame);
    return this.next();
  }

  /** Sends a message with the client's own id, and returns the response. */
  async write(id: string, content = `Text of ${id}`): Promise<Frame> {
    this.send({ type: "message", id, content });
    return this.pastStatuses();
  }

  /** The next frame that is not a status. Statuses before it, which may come late, are still to be read. */
  async pastStatuses(): Promise<Frame> {
    const statuses: Frame[] = [];
    let frame = await this.next();
    for (; frame.type === "status"; frame = await this.next()) statuses.push(frame);
    this.#frames.unshift(...statuses);
    return frame;
  }

  /** Every frame that was sent before the response to a ping. */
  async rest(): Promise<Frame[]> {
    this.send('{ "type": "ping" }');
    const frames: Frame[] = [];
    for (let frame = await this.next(); frame.type !== "pong"; frame = await this.next()) frames.push(frame);
    return frames;
  }

  async close(): Promise<void> {
    this.#socket.close(1000);
    await this.closed;
  }
}

/** The response to a visitor's upgrade. */
export function upgrade(channelId: string, { after, events, origin, from = elsewhere(), ...visit }: Visit = {}) {
  const protocols = visit.protocols ?? ["parley.v1", `token.${visit.token ?? newToken()}`];
  const query = new URLSearchParams({
    ...(after !== undefined && { after: `${after}` }),
    ...(events !== undefined && { events: `${events}` }),
  });
  return exports.default.fetch(`https://parley.test/web/${channelId}/socket?${query.toString()}`, {
    headers: {
      Upgrade: "websocket",
      ...(protocols.length > 0 && { "Sec-WebSocket-Protocol": protocols.join(", ") }),
      ...(origin !== undefined && { Origin: origin }),
      "CF-Connecting-IP": from,
      ...visit.headers,
    },
  });
}

/** Opens a visitor's socket, whether or not it is accepted. */
export async function connect(channelId: string, visit: Visit = {}): Promise<Page> {
  const response = await upgrade(channelId, visit);
  expect(response.status).toBe(101);
  if (!response.webSocket) throw new Error("No socket came");
  return new Page(response.webSocket);
}

/** Opens a visitor's socket that must be accepted. Returns the page and its first frame. */
export async function visit(channelId: string, how: Visit = {}): Promise<{ page: Page; ready: Frame }> {
  const page = await connect(channelId, how);
  const ready = await page.next();
  expect(ready).toMatchObject({ type: "ready" });
  return { page, ready };
}

/** The object of the chat of a token's visitor. */
export async function objectOf(channelId: string, token: string) {
  return env.CHATS.getByName(await webChatId(channelId, await addressOfToken(token)));
}

/** A new organization with a web channel whose identity secret is known. */
export async function newSite(settings: Record<string, unknown> = {}) {
  const organization = await newOrganization();
  const body = { kind: "web", name: "Acme support", settings };
  const made = created(await admin("POST", `/organizations/${organization.organizationId}/channels`, body));
  return { ...organization, channelId: made.channel.id as string, secret: made.identitySecret as string };
}
