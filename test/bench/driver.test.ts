import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { drive } from "./driver.ts";

let stop: () => void = () => undefined;
afterEach(() => stop());

/** A server that answers each request with these pieces, each in a packet of its own. */
async function serve(pieces: string[]): Promise<URL> {
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", () => void answer(socket));
  });
  const answer = async (socket: Socket) => {
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
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

const LENGTH = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
const halves = (text: string) => [text.slice(0, 30), text.slice(30, -3), text.slice(-3)];

test.each([
  ["of a length", [LENGTH]],
  ["of a length, in pieces", halves(LENGTH)],
  ["in chunks", [CHUNKED]],
  ["in chunks, in pieces", halves(CHUNKED)],
  ["without a body", ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]],
])("an answer %s is counted once", async (_name, pieces) => {
  const url = await serve(pieces);
  const load = { url, connections: 3, request: () => "GET / HTTP/1.1\r\n\r\n", status: 200 };
  const measured = await drive(load, { requests: 30 });
  expect(measured).toMatchObject({ requests: 30, unexpected: null });
  expect(measured.latencies).toHaveLength(30);
});

test("an answer of another status is shown", async () => {
  const url = await serve(["HTTP/1.1 429 Too Many Requests\r\nContent-Length: 4\r\n\r\nlate"]);
  const load = { url, connections: 1, request: () => "GET / HTTP/1.1\r\n\r\n", status: 200 };
  expect((await drive(load, { requests: 2 })).unexpected).toMatch(/^HTTP\/1.1 429 .*late$/s);
});

test("a server that hangs up is told of", async () => {
  const url = await serve(["HTTP/1.1 200 OK"]);
  const request = () => {
    queueMicrotask(stop);
    return "GET / HTTP/1.1\r\n\r\n";
  };
  const measured = await drive({ url, connections: 1, request, status: 200 }, { requests: 1 });
  expect(measured).toMatchObject({ requests: 0, unexpected: expect.stringContaining("connection broke") });
});
