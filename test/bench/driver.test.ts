import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, afterEach, expect, test } from "vitest";
import { eachOnce, inTurn, same } from "./cases.ts";
import { type Driver, drive, nodeDriver } from "./driver.ts";
import { findWrk, wrkDriver } from "./wrk.ts";

const folder = await mkdtemp(join(tmpdir(), "parley-driver-"));
afterAll(() => rm(folder, { recursive: true }));

const wrk = await findWrk();
/** wrk is tested on machines that have it. */
const drivers: [name: string, driver: Driver][] = [
  ["Node", nodeDriver],
  ...(wrk === null ? [] : [["wrk", wrkDriver(wrk, folder)] satisfies [string, Driver]]),
];
const SECONDS = 0.1;

let stop: () => void = () => undefined;
afterEach(() => stop());

/**
 * A server that answers each request with these pieces, each in a packet of its own, and keeps what it received. It
 * hangs up if there is no piece.
 */
async function serve(pieces: string[]): Promise<{ url: URL; received: string[] }> {
  const open = new Set<Socket>();
  const received: string[] = [];
  const server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (request) => {
      received.push(String(request));
      void answer(socket);
    });
  });
  const answer = async (socket: Socket) => {
    if (pieces.length === 0) socket.destroy();
    for (const piece of pieces) {
      socket.write(piece);
      await setImmediate();
    }
  };
  stop = () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), received };
}

const REQUEST = "GET / HTTP/1.1\r\n\r\n";
const LENGTH = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
const halves = (text: string) => [text.slice(0, 30), text.slice(30, -3), text.slice(-3)];

test.each([
  ["with a length", [LENGTH]],
  ["with a length, in pieces", halves(LENGTH)],
  ["in chunks", [CHUNKED]],
  ["in chunks, in pieces", halves(CHUNKED)],
  ["without a body", ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]],
])("a response %s is counted once", async (_name, pieces) => {
  const { url, received } = await serve(pieces);
  const measured = await drive({ url, connections: 3, ...same(REQUEST, 200) }, { requests: 30 });
  expect(measured).toMatchObject({ requests: 30, unexpected: null });
  expect(received).toHaveLength(30);
});

test.each(drivers)("%s measures the rate, the latencies and its own CPU", async (_name, driver) => {
  const { url, received } = await serve([LENGTH]);
  const measured = await driver({ url, connections: 4, ...same(REQUEST, 200) }, SECONDS);
  expect(measured.unexpected).toBeNull();
  expect(measured.requests).toBeGreaterThanOrEqual(4);
  expect(received.length - measured.requests).toBeLessThanOrEqual(4);
  expect(measured.seconds).toBeGreaterThanOrEqual(SECONDS);
  expect(measured.p50).toBeGreaterThan(0);
  expect(measured.p99).toBeGreaterThanOrEqual(measured.p50);
  expect(measured.driverShare).toBeGreaterThan(0);
});

test.each(drivers)("%s sends no more requests a second than the load allows", async (_name, driver) => {
  const { url, received } = await serve([LENGTH]);
  const measured = await driver({ url, connections: 2, perSecond: 100, ...same(REQUEST, 200) }, SECONDS);
  expect(measured.unexpected).toBeNull();
  // Each connection sends its first request even if its time comes late.
  expect(measured.requests).toBeGreaterThanOrEqual(2);
  expect(measured.requests).toBeLessThanOrEqual(SECONDS * 100);
  expect(received).toHaveLength(measured.requests);
});

test("requests at a pace come evenly, over all connections in turn", async () => {
  const { url, received } = await serve([LENGTH]);
  const load = { url, connections: 3, perSecond: 200, ...same(REQUEST, 200) };
  const { requests, seconds, unexpected } = await drive(load, { requests: 21 });
  expect([requests, unexpected, received.length]).toEqual([21, null, 21]);
  // The last of 21 requests is due 20 times 5 ms after the first.
  expect(seconds).toBeGreaterThanOrEqual(0.1);
});

test.each(drivers)("%s sends different requests in turn", async (_name, driver) => {
  const { url, received } = await serve([LENGTH]);
  const requests = [0, 1, 2].map((n) => `POST /${n} HTTP/1.1\r\nX-Number: ${n}\r\nContent-Length: 6\r\n\r\nbody ${n}`);
  const { unexpected } = await driver({ url, connections: 1, ...inTurn(requests, 200) }, SECONDS);
  expect(unexpected).toBeNull();
  const first = requests.indexOf(received[0] ?? "");
  expect(first).toBeGreaterThanOrEqual(0);
  expect(received).toEqual(received.map((_, n) => requests[(first + n) % 3]));
});

test.each(drivers)("%s never repeats a request that must not be repeated, or reports it", async (_name, driver) => {
  const { url, received } = await serve([LENGTH]);
  let count = 0;
  const load = { url, connections: 1, ...eachOnce(() => `GET /${count++} HTTP/1.1\r\n\r\n`, 200) };
  const { unexpected } = await driver(load, SECONDS);
  expect(unexpected !== null).toBe(new Set(received).size < received.length);
});

test.each(drivers)("%s reports a response with an unexpected status", async (_name, driver) => {
  const { url } = await serve(['HTTP/1.1 429 Too Many Requests\r\nContent-Length: 6\r\n\r\n"late"']);
  const { unexpected } = await driver({ url, connections: 1, ...inTurn([REQUEST], 200, 201) }, SECONDS);
  expect(unexpected).toMatch(/^HTTP.* 429\b.*"late"$/s);
});

test.each(drivers)("%s does not accept a 200 instead of a 304", async (_name, driver) => {
  const { url } = await serve([LENGTH]);
  const { unexpected } = await driver({ url, connections: 1, ...same(REQUEST, 304) }, SECONDS);
  expect(unexpected).toMatch(/^HTTP.* 200\b.*hello$/s);
});

test.each(drivers)("%s reports a server that closes the connection", async (_name, driver) => {
  const { url } = await serve([]);
  const { requests, unexpected } = await driver({ url, connections: 1, ...same(REQUEST, 200) }, SECONDS);
  expect([requests, unexpected]).toEqual([0, expect.stringMatching(/connection broke|failed connections/)]);
});

test("wrk is found in the folders of PATH", async () => {
  const file = join(folder, "wrk");
  await writeFile(file, "");
  expect(await findWrk(`/nowhere:${folder}`)).toBeNull();
  await chmod(file, 0o755);
  expect(await findWrk(`/nowhere:${folder}`)).toBe(file);
});
