import { createHash, randomFillSync } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { bundle } from "../../support/bundle.ts";
import { telegramServer } from "../../support/telegram-server.ts";
import { whatsappServer } from "../../support/whatsapp-server.ts";
import { startWorkers, workerOptions } from "../../support/world/workers.ts";
import type { Post } from "./worker/poster.ts";

/** The largest file goes from a bucket to a network: the local runtime, and real HTTP. */

const SIZE = 16 * 1_024 * 1_024;
const BYTES = randomFillSync(Buffer.alloc(SIZE));
const SHA256 = createHash("sha256").update(BYTES).digest("hex");
const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const FILE = { contentType: DOCX, size: SIZE, fileName: 'Übersicht "2026"; v2.docx' };
/** No server can take quotes and semicolons from all clients. */
const ARRIVED = { name: "Übersicht '2026', v2.docx", type: DOCX, size: SIZE, sha256: SHA256 };

let folder: string;
let miniflare: Miniflare;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-files-"));
  await bundle({ poster: new URL("worker/poster.ts", import.meta.url).pathname }, folder);
  const options = workerOptions({ name: "poster", script: join(folder, "poster.js"), bindings: {}, objects: {} });
  const started = await startWorkers({ workers: [options] });
  miniflare = started.miniflare;
  url = started.urls.poster ?? "";
  expect((await fetch(url, { method: "PUT", body: BYTES })).status).toBe(200);
});

afterAll(async () => {
  await miniflare?.dispose();
  await rm(folder, { recursive: true, force: true });
});

async function post(kind: Post["kind"], base: string, deadlineMs = 60_000): Promise<unknown> {
  const body: Post = { kind, base, deadlineMs, file: FILE };
  return (await fetch(url, { method: "POST", body: JSON.stringify(body) })).json();
}

async function listening(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => void sockets.add(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answering = (listener: RequestListener) => listening(createServer(listener));
const onSocket = (listener: (socket: Socket) => void) => listening(createSocketServer(listener));

test("Telegram receives 16 MiB as they are, with the length, the name and the type", async () => {
  const server = await telegramServer();
  onTestFinished(() => server.close());
  const taken = new Promise((resolve) => {
    server.taken = resolve;
  });
  expect(await post("telegram", server.base)).toMatchObject({ outcome: "sent" });
  expect(await taken).toMatchObject({
    ...{ method: "sendDocument", body: { chat_id: "42", caption: "Two\nlines" } },
    file: { field: "document", ...ARRIVED },
  });
});

test("WhatsApp receives 16 MiB as an upload, and the message shows it", async () => {
  const server = await whatsappServer({ token: "an-access-token" });
  onTestFinished(() => server.close());
  const taken = new Promise((resolve) => {
    server.weather = async (message) => {
      resolve(message);
      return undefined;
    };
  });
  expect(await post("whatsapp", server.base)).toMatchObject({ outcome: "sent" });
  const [[id, upload] = []] = server.uploads;
  expect(upload).toEqual({ field: "file", ...ARRIVED });
  const document = { id, filename: FILE.fileName, caption: "Two\nlines" };
  expect(await taken).toMatchObject({ body: { document }, file: upload });
});

test("a network that refuses before it has read the file is understood", async () => {
  const refusal = JSON.stringify({ ok: false, error_code: 401, description: "Unauthorized" });
  const base = await answering((_request, response) => {
    response.writeHead(401, { "Content-Type": "application/json" }).end(refusal);
  });
  expect(await post("telegram", base)).toMatchObject({ outcome: "channel_broken" });
});

test.each<[string, (socket: Socket) => void, number]>([
  ["closes the connection amid the file", (socket) => socket.once("data", () => socket.destroy()), 60_000],
  ["reads nothing until the deadline", (socket) => socket.pause(), 10_000],
])("a network that %s can't have taken the message", async (_, listener, deadlineMs) => {
  const base = await onSocket(listener);
  for (const kind of ["telegram", "whatsapp"] as const) {
    const outcome = await post(kind, base, deadlineMs);
    expect(outcome).toMatchObject({ outcome: "retry", code: "media_interrupted" });
  }
});

test("a network that reads all and says nothing leaves open what came of a message, but not of an upload", async () => {
  const base = await onSocket((socket) => socket.resume());
  expect(await post("telegram", base, 25_000)).toMatchObject({ outcome: "unknown" });
  expect(await post("whatsapp", base, 25_000)).toMatchObject({ outcome: "retry", code: "upload_unknown" });
});
