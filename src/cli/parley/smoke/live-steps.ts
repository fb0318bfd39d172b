import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { printable } from "../table.ts";
import { check, refuseFront, type SmokeCaller, SmokeFault } from "./caller.ts";
import { type Lab, send, type Tenant, within } from "./lab.ts";

const BUFFERED = "look for a proxy or a rule between here and the Worker that buffers or cuts responses";
const SOCKETS = 'turn on "WebSockets" in the zone\'s Network settings, and look for a proxy in between';

/** A visitor's socket works both ways, also after the chat's object has been out of memory. */
export async function socketStep(lab: Lab, tenant: Tenant): Promise<string> {
  const { pace, caller } = lab;
  const socket = new VisitorSocket(caller, tenant);
  try {
    await within(pace.patience.frame, "the visitors' socket does not open", socket.opened, SOCKETS);
    await socket.wait(pace, "no ready frame", (frame) => frame.type === "ready");
    socket.send({ type: "ping" });
    await socket.wait(pace, "a ping got no pong", (frame) => frame.type === "pong");
    await bothWays(lab, tenant, socket, "First");
    await delay(pace.silence, undefined, { signal: caller.signal });
    await bothWays(lab, tenant, socket, "After a silence");
    return `frames go both ways, also after ${pace.silence / 1_000} s of silence`;
  } finally {
    socket.close();
  }
}

/** A message of the visitor is stored, and one of the company is shown. */
async function bothWays({ pace }: Lab, tenant: Tenant, socket: VisitorSocket, content: string): Promise<void> {
  const id = crypto.randomUUID();
  socket.send({ type: "message", id, content });
  const isAnswer = (frame: Frame) => (frame.type === "stored" || frame.type === "refused") && frame.id === id;
  const answer = await socket.wait(pace, `a visitor's message was not stored (${content})`, isAnswer);
  check(answer.type === "stored", `a visitor's message was refused (${content}): ${printable(answer.code ?? "")}`);
  const shown = await send(tenant, content);
  const isShown = (frame: Frame) => frame.type === "message" && frame.message?.id === shown.id;
  await socket.wait(pace, `a message did not reach the visitor (${content})`, isShown);
}

interface Frame {
  type?: string;
  id?: string;
  code?: string;
  message?: { id?: string };
}

/** The socket of a user whom the site has signed in. */
class VisitorSocket {
  readonly opened: Promise<void>;
  readonly #socket: WebSocket;
  readonly #closed: Promise<never>;
  readonly #frames: Frame[] = [];
  #onFrame = () => {};

  constructor({ base, signal }: SmokeCaller, { channelId, identitySecret, user }: Tenant) {
    const hash = createHmac("sha256", identitySecret).update(user).digest("hex");
    const claim = `user.${Buffer.from(user).toString("base64url")}.${hash}`;
    const url = new URL(`/web/${channelId}/socket?after=0`, base.replace(/^http/, "ws"));
    this.#socket = new WebSocket(url.href, ["parley.v1", claim]);
    const { promise: closed, reject } = Promise.withResolvers<never>();
    closed.catch(() => {});
    this.#closed = closed;
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    const opened = new Promise<void>((resolve) => this.#socket.addEventListener("open", () => resolve()));
    this.opened = Promise.race([opened, closed]);
    this.opened.catch(() => {});
    this.#socket.addEventListener("error", () => reject(new SmokeFault("the visitors' socket is refused", SOCKETS)));
    this.#socket.addEventListener("close", ({ code }) =>
      reject(new SmokeFault(`the visitors' socket was closed with ${code}`, SOCKETS)),
    );
    this.#socket.addEventListener("message", ({ data }) => {
      const frame = frameIn(data);
      if (!frame) return reject(new SmokeFault("what came through the visitors' socket is not the service's", SOCKETS));
      this.#frames.push(frame);
      this.#onFrame();
    });
  }

  send(frame: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  /** Waits for a frame. @throws SmokeFault with `found` */
  async wait({ patience }: Lab["pace"], found: string, isIt: (frame: Frame) => boolean): Promise<Frame> {
    const came = new Promise<Frame>((resolve) => {
      this.#onFrame = () => {
        const frame = this.#frames.find(isIt);
        if (frame) resolve(frame);
      };
      this.#onFrame();
    });
    return within(patience.frame, found, Promise.race([came, this.#closed]), SOCKETS);
  }

  close(): void {
    this.#socket.close();
  }
}

/** Null for what the service never sends: bytes, and text that is not a JSON object. */
function frameIn(data: unknown): Frame | null {
  try {
    const value: unknown = JSON.parse(String(data));
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/** Events come while the stream is open, also after a silence, and a client goes on where it stopped. */
export async function streamStep(lab: Lab, tenant: Tenant): Promise<string> {
  const { pace, caller } = lab;
  const first = new EventStream(lab, tenant, null);
  let cursor: string;
  try {
    await first.wait("nothing came of the stream of events: something buffers it", ({ id }) => id !== undefined);
    await eventOf(lab, tenant, first, "an event did not come while the stream was open");
    await delay(pace.silence, undefined, { signal: caller.signal });
    cursor = await eventOf(lab, tenant, first, `an event did not come after ${pace.silence / 1_000} s of silence`);
  } finally {
    await first.close();
  }
  const missed = await send(tenant, "While nobody listens");
  const second = new EventStream(lab, tenant, cursor);
  try {
    await second.wait(
      "a client that went on after a cursor missed an event",
      ({ data }) => data?.includes(missed.id) === true,
    );
  } finally {
    await second.close();
  }
  return `events come at once, also after ${pace.silence / 1_000} s, and a client goes on where it stopped`;
}

/** Sends a message and waits for its event. @returns the event's cursor */
async function eventOf({ pace }: Lab, tenant: Tenant, stream: EventStream, found: string): Promise<string> {
  const { id } = await send(tenant, "Listen");
  const event = await stream.wait(
    `${found} (${pace.patience.event / 1_000} s)`,
    ({ data }) => data?.includes(id) === true,
  );
  return event.id ?? "";
}

interface StreamEvent {
  id?: string;
  data?: string;
}

class EventStream {
  readonly #stop = new AbortController();
  readonly #events: StreamEvent[] = [];
  readonly #ended: Promise<never>;
  readonly #patience: number;
  #onEvent = () => {};

  /** @param after the cursor to go on after; null to begin now */
  constructor({ caller, pace }: Lab, { key }: Tenant, after: string | null) {
    this.#patience = pace.patience.event;
    this.#ended = this.#read(caller, key, after);
    this.#ended.catch(() => {});
  }

  /** Waits for an event. @throws SmokeFault with `found` */
  async wait(found: string, isIt: (event: StreamEvent) => boolean): Promise<StreamEvent> {
    const came = new Promise<StreamEvent>((resolve) => {
      this.#onEvent = () => {
        const event = this.#events.find(isIt);
        if (event) resolve(event);
      };
      this.#onEvent();
    });
    return within(this.#patience, found, Promise.race([came, this.#ended]), BUFFERED);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#ended.catch(() => {});
  }

  /** Never returns: a stream that ends is a fault here. */
  async #read({ base, signal }: SmokeCaller, key: string, after: string | null): Promise<never> {
    const headers = { Authorization: `Bearer ${key}`, ...(after !== null && { "Last-Event-ID": after }) };
    const both = AbortSignal.any([signal, this.#stop.signal]);
    try {
      const response = await fetch(new URL("/api/v1/events/stream", base), {
        headers,
        redirect: "manual",
        signal: both,
      });
      if (response.status !== 200) refuseFront(response, await response.text());
      check(response.status === 200, `GET /api/v1/events/stream answered ${response.status}`);
      const decoder = new TextDecoder();
      let rest = "";
      for await (const bytes of response.body ?? []) {
        const blocks = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) this.#events.push(eventIn(block));
        this.#onEvent();
      }
    } catch (error) {
      both.throwIfAborted();
      if (error instanceof SmokeFault) throw error;
    }
    throw new SmokeFault("the stream of events was cut off", BUFFERED);
  }
}

function eventIn(block: string): StreamEvent {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
  const [id, data] = [field("id"), field("data")];
  return { ...(id !== undefined && { id }), ...(data !== undefined && { data }) };
}
