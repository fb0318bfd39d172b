import type { CDPSession, Page } from "playwright-core";

/** How a page scrolls, by the browser's own trace, and what it holds when it is done. */
export interface Scrolling {
  /** While it scrolled. */
  seconds: number;
  pixels: number;
  /** Of 60 frames a second, those that were not dropped; and the fewest in any second. */
  rate: number;
  slowest: number;
  /** The longest time between two frames, in ms. */
  longestGap: number;
  /** Tasks of the main thread of 50 ms or more, and the longest, in ms. */
  longTasks: number;
  longestTask: number;
  /** The browser's own measure, also of what moves shortly after an input. */
  layoutShift: number;
}

export interface Held {
  /** Bytes of JavaScript, after a collection of garbage. */
  heap: number;
  /** In the document. */
  elements: number;
  /** Of all kinds, also those that are only kept. */
  nodes: number;
}

/** The part of a trace's event that is read. Times in µs. */
interface TraceEvent {
  name: string;
  ph: string;
  ts: number;
  pid: number;
  args?: { frame_reporter?: { frame_sequence: number; state: string } };
}

const FRAMES_PER_SECOND = 60;

/** The gestures of one measurement are this fast, in pixels a second: a strong swipe. */
const SPEED = 8_000;
const GESTURE_PX = 12_000;
/** This many collections of garbage that free nothing are enough. */
const UNCHANGED = 3;
const BEGIN = "scroll-begin";
const END = "scroll-end";

/** What a page observes of itself. */
interface Seen {
  tasks: number[];
  shift: number;
}

/** A page that is scrolled by hand, so to say: by the browser's own gestures. */
export class ScrolledPage {
  readonly page: Page;
  readonly #scroller: string;
  readonly #session: CDPSession;
  #events: TraceEvent[] = [];
  #pixels = 0;

  private constructor(page: Page, scroller: string, session: CDPSession) {
    this.page = page;
    this.#scroller = scroller;
    this.#session = session;
    session.on("Tracing.dataCollected", ({ value }) => this.#events.push(...(value as unknown as TraceEvent[])));
  }

  /** @param scroller the selector of the box that scrolls */
  static async of(page: Page, scroller: string): Promise<ScrolledPage> {
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    await session.send("HeapProfiler.enable");
    await page.evaluate(() => {
      const seen: Seen = { tasks: [], shift: 0 };
      Object.assign(window, { seen });
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) seen.tasks.push(duration);
      }).observe({ type: "longtask" });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) seen.shift += (entry as unknown as { value: number }).value;
      }).observe({ type: "layout-shift" });
    });
    return new ScrolledPage(page, scroller, session);
  }

  /** Measures the scrolling in `work`. */
  async measure(work: () => Promise<void>): Promise<Scrolling> {
    this.#events = [];
    this.#pixels = 0;
    await this.#take();
    const categories = ["disabled-by-default-devtools.timeline.frame", "blink.user_timing"];
    await this.#session.send("Tracing.start", {
      transferMode: "ReportEvents",
      traceConfig: { recordMode: "recordUntilFull", includedCategories: categories, traceBufferSizeInKb: 400_000 },
    });
    await work();
    const complete = new Promise((resolve) => this.#session.once("Tracing.tracingComplete", resolve));
    await this.#session.send("Tracing.end");
    await complete;
    const { tasks, shift } = await this.#take();
    return {
      ...framesOf(this.#events),
      pixels: this.#pixels,
      longTasks: tasks.length,
      longestTask: Math.max(0, ...tasks),
      layoutShift: shift,
    };
  }

  /** Scrolls to the first line, and loads what is before it with `older`. That returns whether there was something. */
  async toStart(older: () => Promise<boolean>): Promise<void> {
    do while ((await this.#top()) > 0) await this.#gesture(GESTURE_PX);
    while (await older());
  }

  async toEnd(): Promise<void> {
    const left = () =>
      this.page.locator(this.#scroller).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    while ((await left()) > 1) await this.#gesture(-GESTURE_PX);
  }

  /** What the page holds, after a collection of garbage. */
  async held(): Promise<Held> {
    // What left the document goes over some collections: the script's heap and the document's wait for each other.
    let [nodes, same] = [Number.POSITIVE_INFINITY, 0];
    while (same < UNCHANGED) {
      await this.#session.send("HeapProfiler.collectGarbage");
      await this.page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
      const left = await this.metric("Nodes");
      same = left < nodes ? 0 : same + 1;
      nodes = left;
    }
    const { usedSize } = await this.#session.send("Runtime.getHeapUsage");
    const elements = await this.page.evaluate(() => document.querySelectorAll("*").length);
    return { heap: usedSize, elements, nodes };
  }

  /** A figure that the browser keeps of the page. */
  async metric(name: "Nodes" | "TaskDuration"): Promise<number> {
    const { metrics } = await this.#session.send("Performance.getMetrics");
    return metrics.find((one) => one.name === name)?.value ?? Number.NaN;
  }

  /** Tasks of 50 ms or more since the last call, in ms, and how much moved. */
  async #take(): Promise<Seen> {
    return this.page.evaluate(() => {
      const { seen } = window as unknown as { seen: Seen };
      const taken = { ...seen };
      Object.assign(seen, { tasks: [], shift: 0 });
      return taken;
    });
  }

  #top(): Promise<number> {
    return this.page.locator(this.#scroller).evaluate((box) => box.scrollTop);
  }

  /** @param distance in pixels; below 0 toward the end */
  async #gesture(distance: number): Promise<void> {
    const box = await this.page.locator(this.#scroller).boundingBox();
    if (!box) throw new Error("There is nothing to scroll");
    const before = await this.#top();
    await this.page.evaluate((name) => void performance.mark(name), BEGIN);
    await this.#session.send("Input.synthesizeScrollGesture", {
      x: Math.round(box.x + box.width / 2),
      y: Math.round(box.y + box.height / 2),
      yDistance: distance,
      speed: SPEED,
      gestureSourceType: "mouse",
      preventFling: true,
    });
    await this.page.evaluate((name) => void performance.mark(name), END);
    this.#pixels += Math.abs((await this.#top()) - before);
  }
}

/**
 * The frames of the gestures, one gesture after the other. A frame for which nothing had changed since the last one counts
 * as drawn: the gesture's own steps do not come in time with the frames.
 */
export function framesOf(
  events: readonly TraceEvent[],
): Pick<Scrolling, "seconds" | "rate" | "slowest" | "longestGap"> {
  const marks = events.filter(({ name }) => name === BEGIN || name === END).toSorted((one, other) => one.ts - other.ts);
  const frames = events
    .filter(({ name, ph, pid }) => name === "PipelineReporter" && ph === "b" && pid === marks[0]?.pid)
    .toSorted((one, other) => one.ts - other.ts);
  /** Of each frame that was to come: whether it was missed. */
  const missed: boolean[] = [];
  let longest = 0;
  for (const [index, { name, ts: begin }] of marks.entries()) {
    const end = marks[index + 1];
    if (name !== BEGIN || !end) continue;
    const states = new Map<number, boolean>();
    for (const { ts, args } of frames) {
      const frame = args?.frame_reporter;
      if (!frame || ts < begin || ts > end.ts) continue;
      // A frame can have two reports: one is of what the main thread had ready later.
      const isMissed = frame.state === "STATE_DROPPED" && states.get(frame.frame_sequence) !== false;
      states.set(frame.frame_sequence, isMissed);
    }
    const numbers = [...states.keys()];
    let run = 0;
    for (let number = Math.min(...numbers); number <= Math.max(...numbers); number++) {
      // Of a frame that was skipped altogether there is no report.
      const isMissed = states.get(number) ?? true;
      missed.push(isMissed);
      run = isMissed ? run + 1 : 0;
      longest = Math.max(longest, run);
    }
  }
  const rateOf = (part: boolean[]) => (FRAMES_PER_SECOND * part.filter((one) => !one).length) / part.length;
  const seconds = Math.floor(missed.length / FRAMES_PER_SECOND);
  const rates = Array.from({ length: seconds }, (_, n) =>
    rateOf(missed.slice(n * FRAMES_PER_SECOND, (n + 1) * FRAMES_PER_SECOND)),
  );
  return {
    seconds: missed.length / FRAMES_PER_SECOND,
    rate: rateOf(missed),
    slowest: Math.min(...rates),
    longestGap: (1_000 * (longest + 1)) / FRAMES_PER_SECOND,
  };
}
