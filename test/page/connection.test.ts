import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { waitBefore } from "../../src/web/shared/wait-before.ts";
import { connect } from "../../src/web/visitor/connection.ts";
import type { IncomingFrame } from "../../src/web/visitor/frames.ts";

/** A browser's socket that the test controls. */
class Socket extends EventTarget {
  static readonly OPEN = 1;
  readyState = 0;
  readonly sent: string[] = [];
  readonly url: string;
  readonly protocols: string[];

  constructor(url: string, protocols: string[]) {
    super();
    this.url = url;
    this.protocols = protocols;
    sockets.push(this);
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.readyState = 3;
  }

  opens(): void {
    this.readyState = Socket.OPEN;
    this.dispatchEvent(new Event("open"));
  }

  says(frame: IncomingFrame): void {
    this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(frame) }));
  }

  hangsUp(code: number, reason = ""): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event("close"), { code, reason }));
  }
}

let sockets: Socket[] = [];

beforeEach(() => {
  sockets = [];
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", Socket);
  vi.spyOn(Math, "random").mockReturnValue(1);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function start() {
  const heard: IncomingFrame[] = [];
  const closed: number[] = [];
  let asked = 0;
  const connection = connect(
    () => `ws://parley/${asked++}`,
    () => ["parley.v1", `${asked}`],
    {
      onFrame: (frame) => void heard.push(frame),
      onClose: (code) => void closed.push(code),
    },
  );
  return { connection, heard, closed };
}

const last = () => sockets.at(-1) ?? expect.unreachable("there is no socket");

test("a wait grows from at most two seconds to thirty, with jitter", () => {
  expect([0, 1, 2, 3, 9].map((failures) => Math.round(waitBefore(failures, 1)))).toEqual([
    2_000, 3_600, 6_480, 11_664, 30_000,
  ]);
  expect([0, 9].map((failures) => waitBefore(failures, 0))).toEqual([500, 7_500]);
});

test("a closed socket is opened again after a growing wait, with a new URL and new protocols", () => {
  const { closed } = start();
  last().hangsUp(1006);
  vi.advanceTimersByTime(1_999);
  expect(sockets).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(sockets.map(({ url }) => url)).toEqual(["ws://parley/0", "ws://parley/1"]);
  expect(sockets.map(({ protocols }) => protocols[1])).toEqual(["1", "2"]);
  last().hangsUp(1013);
  vi.advanceTimersByTime(3_599);
  expect(sockets).toHaveLength(2);
  vi.advanceTimersByTime(1);
  expect([sockets.length, closed]).toEqual([3, [1006, 1013]]);
});

test("a connection that lasts resets the wait, and one that closes immediately does not", () => {
  start();
  last().hangsUp(1006);
  vi.advanceTimersByTime(2_000);
  last().opens();
  vi.advanceTimersByTime(4_999);
  last().hangsUp(1006);
  vi.advanceTimersByTime(3_599);
  expect(sockets).toHaveLength(2);
  vi.advanceTimersByTime(1);
  last().opens();
  vi.advanceTimersByTime(5_000);
  last().hangsUp(1006);
  vi.advanceTimersByTime(2_000);
  expect(sockets).toHaveLength(4);
});

test.for([4401, 4403, 4404])("after %i there is no other attempt", (code) => {
  const { closed } = start();
  last().hangsUp(code);
  vi.advanceTimersByTime(3_600_000);
  expect([sockets.length, closed]).toEqual([1, [code]]);
});

test("a socket that neither opens nor fails is closed", () => {
  const { closed } = start();
  vi.advanceTimersByTime(10_000);
  expect([last().readyState, closed]).toEqual([3, [1006]]);
  vi.advanceTimersByTime(2_000);
  expect(sockets).toHaveLength(2);
});

test("a ping closes a silent connection and keeps one that responds", () => {
  const { closed } = start();
  last().opens();
  vi.advanceTimersByTime(25_000);
  expect(last().sent).toEqual(['{"type":"ping"}']);
  last().says({ type: "pong" });
  vi.advanceTimersByTime(25_000);
  expect([sockets.length, last().sent.length]).toEqual([1, 2]);
  vi.advanceTimersByTime(25_000);
  expect([sockets.length, closed]).toEqual([2, [1006]]);
});

test("a restart does not wait, and ignores the old socket", () => {
  const { connection, heard, closed } = start();
  const former = last();
  former.opens();
  connection.restart();
  expect([sockets.length, former.readyState]).toEqual([2, 3]);
  former.says({ type: "pong" });
  former.hangsUp(1000);
  last().opens();
  last().says({ type: "pong" });
  expect([heard, closed]).toEqual([[{ type: "pong" }], []]);
  vi.advanceTimersByTime(20_000);
  expect(sockets).toHaveLength(2);
});

test("a restart replaces a pending attempt", () => {
  const { connection } = start();
  last().hangsUp(1006);
  connection.restart();
  last().opens();
  vi.advanceTimersByTime(20_000);
  expect(sockets).toHaveLength(2);
});

test("a frame is sent on an open socket, or dropped", () => {
  const { connection } = start();
  connection.send({ type: "read", seq: 1 });
  last().opens();
  connection.send({ type: "read", seq: 2 });
  expect(last().sent).toEqual(['{"type":"read","seq":2}']);
});

test("a closed connection stays closed", () => {
  const { connection, closed } = start();
  const former = last();
  former.opens();
  connection.close();
  former.hangsUp(1000);
  vi.advanceTimersByTime(3_600_000);
  expect([sockets.length, closed, former.sent]).toEqual([1, [], []]);
});
