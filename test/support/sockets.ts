import { env, exports } from "cloudflare:workers";
import { expect } from "vitest";
import { webChatId } from "../../src/channels/web/chat-id.ts";
import { addressOfToken } from "../../src/channels/web/identity.ts";
import { randomBase62 } from "../../src/ids.ts";
import { plant } from "./canaries.ts";
import { admin, created, newOrganization } from "./harness.ts";

export { asUser, signUser, signUserUntil } from "./site-users.ts";

// biome-ignore lint/suspicious/noExplicitAny: a frame is whatever the test expects of it
export type Frame = any;

export interface Visit {
  token?: string;
  /** All the subprotocols, in place of the token's. */
  protocols?: string[];
  after?: number | string;
  origin?: string;
  /** Where the visitor comes from; each visitor from somewhere else, unless told. */
  from?: string;
  headers?: Record<string, string>;
}

let visitors = 0;

/** A network of its own for each visitor, so that no test meets the limit of new chats by chance. */
function elsewhere(): string {
  visitors++;
  return `10.${visitors >> 16}.${(visitors >> 8) & 255}.${visitors & 255}`;
}

export function newToken(): string {
  const token = randomBase62(22);
  plant(token);
  return token;
}

/** The page's end of a visitor's socket: frames and the close are awaited in the order in which they came. */
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
        // Whoever waits for a frame then sees why none comes.
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

  /** The next frame; `{ closed: code }` after the last. */
  next(): Promise<Frame> {
    const frame = this.#frames.shift();
    return frame === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(frame);
  }

  send(frame: Frame): void {
    this.#socket.send(typeof frame === "string" || frame instanceof ArrayBuffer ? frame : JSON.stringify(frame));
  }

  /** Sends a frame and gives the next that comes. */
  ask(frame: Frame): Promise<Frame> {
    this.send(frame);
    return this.next();
  }

  /** Sends a message under the client's own id, and gives what is answered. */
  write(id: string, content = `Text of ${id}`): Promise<Frame> {
    return this.ask({ type: "message", id, content });
  }

  /** Every frame that had been sent when a ping of now was answered. */
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

/** The answer to a visitor's upgrade. */
export function upgrade(channelId: string, { after, origin, from = elsewhere(), ...visit }: Visit = {}) {
  const protocols = visit.protocols ?? ["parley.v1", `token.${visit.token ?? newToken()}`];
  const query = after === undefined ? "" : `?after=${after}`;
  return exports.default.fetch(`https://parley.test/web/${channelId}/socket${query}`, {
    headers: {
      Upgrade: "websocket",
      ...(protocols.length > 0 && { "Sec-WebSocket-Protocol": protocols.join(", ") }),
      ...(origin !== undefined && { Origin: origin }),
      "CF-Connecting-IP": from,
      ...visit.headers,
    },
  });
}

/** Opens a visitor's socket, whatever becomes of it. */
export async function connect(channelId: string, visit: Visit = {}): Promise<Page> {
  const response = await upgrade(channelId, visit);
  expect(response.status).toBe(101);
  if (!response.webSocket) throw new Error("No socket came");
  return new Page(response.webSocket);
}

/** Opens a visitor's socket that must be let in; the page and its first frame. */
export async function visit(channelId: string, how: Visit = {}): Promise<{ page: Page; ready: Frame }> {
  const page = await connect(channelId, how);
  const ready = await page.next();
  expect(ready).toMatchObject({ type: "ready" });
  return { page, ready };
}

/** The object that a token's visitor meets in. */
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
