import { Delays, type Mode } from "./delays.ts";

/** What a page must know to disturb its own time. */
export interface PageSettings {
  mode: Mode;
  seed: number;
  /** The test file and the number of the browser's context. */
  name: string;
}

// What the page gets instead of its own functions uses those of the browser.
const now = performance.now.bind(performance);
const plain = {
  setTimeout: self.setTimeout.bind(self) as (run: () => void, ms: number) => number,
  clearTimeout: self.clearTimeout.bind(self) as (id: number) => void,
  requestFrame: self.requestAnimationFrame.bind(self),
  cancelFrame: self.cancelAnimationFrame.bind(self),
  fetch: self.fetch.bind(self),
};

/** Events that were late already. */
const released = new WeakSet<Event>();

/**
 * Disturbs the time of the page whose window this is: timers, frames, requests with their answers, sockets, streams and
 * messages of other windows. Call it before the page's own scripts run.
 */
export function disturbPage({ mode, seed, name }: PageSettings): void {
  // Each document of a test has delays of its own.
  const delays = new Delays(mode, seed, `${name} ${history.length} ${self === top}`);
  disturbTimers(delays);
  if (mode === "fast") return;
  disturbFrames(delays);
  disturbRequests(delays);
  disturbUploads(delays);
  disturbSockets(delays);
  disturbChannels(delays);
  hold(self, ["message", "storage"], new Line(delays));
}

/** Steps that are late, and keep their order. */
class Line {
  readonly #delays: Delays;
  #waiting: (() => void)[] = [];
  #last = 0;

  constructor(delays: Delays) {
    this.#delays = delays;
  }

  /** Runs the step late and returns true, or returns false if it is not late. */
  delay(step: () => void): boolean {
    const at = Math.max(now() + this.#delays.next(), this.#last);
    if (at <= now() && this.#waiting.length === 0) return false;
    this.#last = at;
    this.#waiting.push(step);
    // Timers of nearly the same time can ring in another order: each runs the step whose turn it is.
    plain.setTimeout(() => this.#waiting.shift()?.(), at - now());
    return true;
  }

  /** Runs the step, late or now. */
  run(step: () => void): void {
    if (!this.delay(step)) step();
  }
}

/** Events of these types are late, and keep their order. `lets` is asked when one's time has come. */
function hold(target: EventTarget, types: readonly string[], line: Line, lets = (_event: Event) => true): void {
  const onEvent = (event: Event) => {
    if (released.has(event)) return;
    const isLate = line.delay(() => {
      if (!lets(event)) return;
      const copy = copyOf(event);
      released.add(copy);
      target.dispatchEvent(copy);
    });
    if (isLate || !lets(event)) event.stopImmediatePropagation();
  };
  // Nobody listens before this one.
  for (const type of types) target.addEventListener(type, onEvent, { capture: true });
}

/** Every class of events reads its fields from an object that has them, and the event is one. */
function copyOf(event: Event): Event {
  const EventClass = event.constructor as new (type: string, fields: Event) => Event;
  return new EventClass(event.type, event);
}

async function pause(delays: Delays, signal?: AbortSignal | null): Promise<void> {
  const ms = delays.next();
  if (ms === 0) return;
  await new Promise<void>((resolve) => {
    plain.setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** A timer that was set before another one, for no longer, rings before it, as in every browser. */
function disturbTimers(delays: Delays): void {
  interface Timer {
    ms: number;
    due: number;
    handle: number;
  }
  // In the order in which they were set.
  const timers = new Map<number, Timer>();

  function dueOf(ms: number): number {
    const before = [...timers.values()].filter((other) => other.ms <= ms).map(({ due }) => due);
    return Math.max(now() + delays.timer(ms), ...before);
  }

  function hasTurn(id: number, { ms }: Timer): boolean {
    for (const [other, { ms: othersMs }] of timers) {
      if (other === id) return true;
      if (othersMs <= ms) return false;
    }
    return true;
  }

  function set(run: unknown, wanted: unknown, given: unknown[], repeats: boolean): number {
    if (typeof run !== "function") throw new TypeError("A timer's text is no function");
    const ms = Math.max(0, Math.trunc(Number(wanted)) || 0);
    const timer = { ms, due: dueOf(ms), handle: 0 };
    const arm = () => plain.setTimeout(ring, Math.max(0, Math.ceil(timer.due - now())));
    const ring = () => {
      if (!hasTurn(id, timer)) {
        timer.handle = plain.setTimeout(ring, 0);
        return;
      }
      timers.delete(id);
      if (repeats) {
        timer.due = dueOf(ms);
        timers.set(id, timer);
        timer.handle = arm();
      }
      Reflect.apply(run, self, given);
    };
    timer.handle = arm();
    const id = timer.handle;
    timers.set(id, timer);
    return id;
  }

  function clear(id: number): void {
    plain.clearTimeout(timers.get(id)?.handle ?? id);
    timers.delete(id);
  }

  Object.assign(self, {
    setTimeout: (run: unknown, ms?: unknown, ...given: unknown[]) => set(run, ms, given, false),
    setInterval: (run: unknown, ms?: unknown, ...given: unknown[]) => set(run, ms, given, true),
    clearTimeout: clear,
    clearInterval: clear,
  });
}

/** A frame is late with all that was asked for it. */
function disturbFrames(delays: Delays): void {
  let stage: "none" | "late" | "asked" = "none";
  let last = 0;
  const waiting = new Map<number, FrameRequestCallback>();
  const handles = new Map<number, number>();

  function ask(id: number, run: FrameRequestCallback): void {
    const handle = plain.requestFrame((time) => {
      handles.delete(id);
      run(time);
    });
    handles.set(id, handle);
  }

  function begin(): void {
    stage = "asked";
    // What is asked for inside a frame is for the next one.
    plain.requestFrame(() => (stage = "none"));
    for (const [id, run] of waiting) ask(id, run);
    waiting.clear();
  }

  self.requestAnimationFrame = (run) => {
    const id = ++last;
    if (stage === "none") {
      stage = "late";
      const ms = delays.next();
      if (ms === 0) begin();
      else plain.setTimeout(begin, ms);
    }
    if ((stage as string) === "late") waiting.set(id, run);
    else ask(id, run);
    return id;
  };
  self.cancelAnimationFrame = (id) => {
    waiting.delete(id);
    plain.cancelFrame(handles.get(id) ?? 0);
    handles.delete(id);
  };
}

function disturbRequests(delays: Delays): void {
  self.fetch = async (input, init) => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : null);
    await pause(delays, signal);
    const response = await plain.fetch(input, init);
    await pause(delays, signal);
    signal?.throwIfAborted();
    return isStream(response) ? withLateParts(response, delays) : response;
  };
}

function isStream({ headers }: Response): boolean {
  return headers.get("Content-Type")?.startsWith("text/event-stream") ?? false;
}

/** Each part of the body is late, and keeps its place. */
function withLateParts(response: Response, delays: Delays): Response {
  const late = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    async transform(part, controller) {
      await pause(delays);
      controller.enqueue(part);
    },
  });
  const copy = new Response(response.body?.pipeThrough(late) ?? null, response);
  return Object.defineProperty(copy, "url", { value: response.url });
}

/** Files go up through `XMLHttpRequest`, because `fetch` can't tell how much was sent. */
function disturbUploads(delays: Delays): void {
  self.XMLHttpRequest = class extends XMLHttpRequest {
    #isAborted = false;

    constructor() {
      super();
      const line = new Line(delays);
      const isGoingOn = () => !this.#isAborted;
      hold(this.upload, ["progress", "load"], line, isGoingOn);
      hold(this, ["load", "error", "timeout"], line, isGoingOn);
    }

    override abort(): void {
      this.#isAborted = true;
      super.abort();
    }
  };
}

function disturbSockets(delays: Delays): void {
  const { CONNECTING, OPEN, CLOSING, CLOSED } = WebSocket;
  self.WebSocket = class extends WebSocket {
    /** As the page knows it. The browser may know more. */
    #state: number = CONNECTING;
    readonly #outgoing = new Line(delays);

    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols);
      hold(this, ["open", "message", "error", "close"], new Line(delays), ({ type }) => {
        // The page closed it before it knew that it is open.
        if (type === "open" && this.#state !== CONNECTING) return false;
        if (type === "open") this.#state = OPEN;
        if (type === "close") this.#state = CLOSED;
        return true;
      });
    }

    override get readyState(): WebSocket["readyState"] {
      return this.#state as WebSocket["readyState"];
    }

    override send(data: Parameters<WebSocket["send"]>[0]): void {
      if (this.#state === CONNECTING) super.send(data);
      else this.#outgoing.run(() => super.send(data));
    }

    override close(code?: number, reason?: string): void {
      const close = () => super.close(code, reason);
      const isEarly = this.#state === CONNECTING;
      if (this.#state < CLOSING) this.#state = CLOSING;
      if (isEarly) close();
      else this.#outgoing.run(close);
    }
  };
}

function disturbChannels(delays: Delays): void {
  self.BroadcastChannel = class extends BroadcastChannel {
    #isOpen = true;

    constructor(name: string) {
      super(name);
      hold(this, ["message"], new Line(delays), () => this.#isOpen);
    }

    override close(): void {
      this.#isOpen = false;
      super.close();
    }
  };
}
