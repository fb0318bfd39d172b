import { type IncomingMessage, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { MAX_FILE_BYTES } from "../../src/model/file.ts";
import { createChannel, createChat, createKey, createOrganization } from "../support/world/factories.ts";
import { lastingPort } from "../support/world/lasting-port.ts";
import { type RunSettings, withSetup } from "./bench.ts";
import { Place } from "./fixtures.ts";
import { openInspector } from "./inspector.ts";
import { heldBy, residentOf } from "./memory.ts";
import { authorized } from "./request.ts";
import { type Server, type Setup, withServer } from "./server.ts";

export interface UploadSizes {
  /** At once. */
  uploads: number;
  /** Of each. */
  bytes: number;
  /** How long a slow sender takes. */
  slowSeconds: number;
}

export const FULL_UPLOADS: UploadSizes = { uploads: 20, bytes: MAX_FILE_BYTES, slowSeconds: 8 };

/** Uploads are to need less than this many MB more than the same bodies put straight into R2. */
const GOAL_MB = 64;

/** Where the bodies go: a route that drops them, one that puts them straight into R2, and the service. */
const TARGETS = ["dropped", "put", "uploaded"] as const;
type Target = (typeof TARGETS)[number];

/** The memory of a fresh server while it takes all bodies at once, in MB. */
interface UploadMemory {
  target: Target;
  isSlow: boolean;
  seconds: number;
  /** Of the runtime's process: all isolates, and the emulated R2. */
  before: number;
  peak: number;
  after: number;
  /** By how much the JavaScript and the buffers of the isolate that takes the bodies grew at most, with garbage. */
  isolate: number;
}

export interface UploadsMeasurement {
  sizes: UploadSizes;
  rows: UploadMemory[];
  /** More growth than that of the same bodies put straight into R2, with fast and with slow senders. */
  more: { fast: number; slow: number };
}

const CHUNK = 65_536;
const SAMPLE_MS = 10;
/** The inspector interrupts the isolate, so it is asked at one of this many samples. */
const SAMPLES_TO_A_LOOK = 20;
/** The head of a warm-up's body, with all that is read for its sides. */
const WARM_UP_BYTES = 700_000;
const REST_MS = 1_000;

/** Measures the memory of the runtime while many files are uploaded at once. Each case has a process of its own. */
export function measureUploads(sizes: UploadSizes, settings: RunSettings): Promise<UploadsMeasurement> {
  return withSetup(settings, { minify: true }, async (setup) => {
    const chats = await withServer(setup, { counted: false, showErrors: true }, (server) =>
      prepare(server, setup, sizes),
    );
    const rows: UploadMemory[] = [];
    for (const isSlow of [false, true]) {
      for (const target of TARGETS) {
        settings.log(`${sizes.uploads} bodies ${target}, ${isSlow ? "slow" : "fast"}`);
        rows.push(await measure(setup, { target, isSlow, ...sizes }, chats));
      }
    }
    const growth = (target: Target, isSlow: boolean) => {
      const { before = 0, peak = 0 } = rows.find((row) => row.target === target && row.isSlow === isSlow) ?? {};
      return peak - before;
    };
    const more = (isSlow: boolean) => growth("uploaded", isSlow) - growth("put", isSlow);
    return { sizes, rows, more: { fast: more(false), slow: more(true) } };
  });
}

interface Chats {
  ids: string[];
  secret: string;
}

/** A chat for each upload: all of them are more than one chat keeps unused. */
async function prepare(server: Server, { secrets }: Setup, { uploads }: UploadSizes): Promise<Chats> {
  const place = new Place(server, secrets.ADMIN_TOKEN);
  await place.migrate();
  const organization = await createOrganization(place);
  const channel = await createChannel(organization);
  const ids: string[] = [];
  while (ids.length < uploads) ids.push((await createChat(channel)).id);
  const { secret } = await createKey(organization, { permissions: ["messages:send"] });
  return { ids, secret };
}

type Case = Pick<UploadMemory, "target" | "isSlow"> & UploadSizes;

async function measure(setup: Setup, of: Case, { ids, secret }: Chats): Promise<UploadMemory> {
  const { target, isSlow, uploads, bytes, slowSeconds } = of;
  const port = await lastingPort();
  return withServer(setup, { counted: false, showErrors: true, inspector: port }, async (server) => {
    const front = target === "uploaded" ? "parley" : "floors";
    const isolate = await openInspector(front, port);
    const file = longPicture(bytes);
    const headers = { ...authorized(secret), "Content-Type": "image/jpeg" };
    const send = (n: number, body: Uint8Array, seconds: number) => {
      const path = target === "uploaded" ? `/api/v1/chats/${ids[n]}/media` : `/${target}/${n}`;
      return post(new URL(path, server.url(front)), headers, body, seconds);
    };
    // What runs for the first time takes memory too.
    for (let n = 0; n < 2; n++) await send(n % uploads, file.subarray(0, WARM_UP_BYTES), 0);
    await delay(REST_MS);
    const [before, held] = [await residentOf(server.pid), await heldBy(isolate)];
    let [peak, most] = [before, held];
    const over = new AbortController();
    const sampling = (async () => {
      for (let n = 1; !over.signal.aborted; n++) {
        peak = Math.max(peak, await residentOf(server.pid));
        if (n % SAMPLES_TO_A_LOOK === 0) most = Math.max(most, await heldBy(isolate));
        await delay(SAMPLE_MS);
      }
    })();
    const begun = performance.now();
    const all = Array.from({ length: uploads }, (_, n) => send(n, file, isSlow ? slowSeconds : 0));
    await Promise.all(all).finally(() => over.abort());
    const seconds = (performance.now() - begun) / 1_000;
    await sampling;
    await delay(REST_MS);
    const after = await residentOf(server.pid);
    await isolate.close();
    return { target, isSlow, seconds, before, peak, after, isolate: most - held };
  });
}

/** The dearest file: a JPEG that never says its sides, so as much of it is read for them as of any. */
function longPicture(size: number): Uint8Array {
  const bytes = new Uint8Array(size).fill(7);
  bytes.set([0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, 0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0]);
  for (let at = 20; at + 4 < size; at += 65_537) bytes.set([0xff, 0xed, 0xff, 0xff], at);
  return bytes;
}

/** Sends a body, in this many seconds if that is not as fast as it goes. @throws Error if it is not accepted */
async function post(url: URL, headers: Record<string, string>, body: Uint8Array, seconds: number): Promise<void> {
  const length = String(body.byteLength);
  const sent = request(url, { method: "POST", agent: false, headers: { ...headers, "Content-Length": length } });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("error", reject);
    sent.on("response", resolve);
  });
  const parts = Math.ceil(body.byteLength / CHUNK);
  const writing = (async () => {
    for (let n = 0; n < parts; n++) {
      const goesOn = sent.write(body.subarray(n * CHUNK, (n + 1) * CHUNK));
      if (!goesOn) await new Promise((resolve) => sent.once("drain", resolve));
      if (seconds > 0) await delay((seconds * 1_000) / parts);
    }
    sent.end();
  })();
  // An answer may come before the whole body was sent.
  const response = await Promise.race([answered, writing.then(() => answered)]);
  const text = await response.setEncoding("utf8").reduce((all: string, part: string) => all + part, "");
  if ((response.statusCode ?? 500) >= 300) throw new Error(`${url.pathname}: ${response.statusCode} ${text}`);
}

export const isWithinGoal = ({ more }: UploadsMeasurement): boolean => Math.max(more.fast, more.slow) < GOAL_MB;

export function uploadsText(measured: UploadsMeasurement): string {
  const { sizes, rows, more } = measured;
  const mb = (value: number) => `${Math.round(value)} MB`;
  const name = { dropped: "dropped by a bare route", put: "put straight into R2", uploaded: "uploaded to chats" };
  return [
    `${sizes.uploads} bodies of ${sizes.bytes / 1_048_576} MiB at once. Memory of the runtime's process, each case in a new one:\n`,
    ...rows.map(
      ({ target, isSlow, seconds, before, peak, after, isolate }) =>
        `  ${name[target]}, ${isSlow ? "slow" : "fast"} senders, ${seconds.toFixed(1)} s: ${mb(before)} before, ` +
        `${mb(peak)} at the peak (+${Math.round(peak - before)}), ${mb(after)} after; isolate +${mb(isolate)}\n`,
    ),
    "The process includes the R2 that Miniflare emulates, in isolates of its own. What is the service's own is the\n",
    "difference to the bodies that a route puts straight into R2:\n",
    `  fast senders +${mb(more.fast)}, slow senders +${mb(more.slow)}. The goal is less than ${GOAL_MB} MB: `,
    isWithinGoal(measured) ? "reached.\n" : "MISSED.\n",
  ].join("");
}
