import { type Channel, createChannel, createChat, createKey, createOrganization } from "../support/world/factories.ts";
import { lastingPort } from "../support/world/lasting-port.ts";
import { type BenchSettings, withSetup } from "./bench.ts";
import type { Driver } from "./driver.ts";
import { Place } from "./fixtures.ts";
import { openInspector } from "./inspector.ts";
import { authorized, post } from "./request.ts";
import { type Server, withServer } from "./server.ts";
import { shown } from "./sizes.ts";
import { median } from "./statistics.ts";

/** How much there is to export. */
export interface ExportSizes {
  /** Chats of the organization. */
  chats: number;
  /** How many of them have messages, and how many. */
  full: number;
  messages: number;
  /** Messages of the chat that is exported beside sends. */
  longChat: number;
}

export const FULL_EXPORT: ExportSizes = { chats: 10_000, full: 20, messages: 1_000, longChat: 100_000 };

/** Sends over one number of connections, alone and beside an export: medians of the rounds. */
interface Sends {
  connections: number;
  alone: SendTurn;
  beside: SendTurn;
}

interface SendTurn {
  rate: number;
  /** Milliseconds. */
  p50: number;
}

export interface ExportMeasurement {
  sizes: ExportSizes;
  seconds: number;
  responses: number;
  cuts: number;
  megabytes: number;
  /** Bytes on the heap of the isolate that streams the export, with garbage: before it and at most amid a part. */
  heap: { before: number; most: number };
  sends: Sends[];
  /** How many MB a second were exported beside the sends. */
  exported: number;
  /** Lines that are missing or came twice. */
  faults: string[];
}

type Settings = Pick<BenchSettings, "seconds" | "data" | "wrk" | "log" | "rounds">;

const EXPORTS = ["data:export", "chats:read", "messages:send"];
/** The heap is measured amid one of this many responses. */
const RESPONSES_TO_A_LOOK = 20;
/** One of this many parts is the last before the client cuts the connection. */
const PARTS_TO_A_CUT = 30;
const SEED = 7;

/**
 * Exports an organization of many chats through connections that are cut at random, and checks each line. Then measures
 * sends in another chat of the organization beside the export of a long chat. The rounds take turns with rounds without it.
 */
export function measureExport(sizes: ExportSizes, settings: Settings): Promise<ExportMeasurement> {
  const { log } = settings;
  return withSetup(settings, { minify: true }, async (setup, drive) => {
    const inspector = await lastingPort();
    return withServer(setup, { counted: true, showErrors: false, inspector }, async (server) => {
      const place = new Place(server, setup.secrets.ADMIN_TOKEN);
      await place.migrate();
      const organization = await createOrganization(place);
      const channel = await createChannel(organization);
      log(`Making ${shown(sizes.chats)} chats`);
      await place.chats(channel, "contact", sizes.chats - sizes.full);
      for (let n = 0; n < sizes.full; n++) await place.chat(channel, sizes.messages);
      const { secret } = await createKey(organization, { permissions: EXPORTS });
      log("Exporting them");
      const walk = await walkExport(place, () => heapNow(inspector), secret, sizes);
      const beside = await measureSends({ place, server, channel, secret, drive }, sizes.longChat, settings);
      return { sizes, ...walk, ...beside };
    });
  });
}

/** The bytes on the heap of the isolate that takes the requests, with garbage. @param port the inspector's */
async function heapNow(port: number): Promise<number> {
  const inspector = await openInspector("parley", port);
  const { usedSize } = await inspector.call<{ usedSize: number }>("Runtime.getHeapUsage");
  await inspector.close();
  return usedSize;
}

/** Exports the organization, and counts each line. */
async function walkExport(place: Place, heapOf: () => Promise<number>, secret: string, sizes: ExportSizes) {
  const random = randomFrom(SEED);
  const chats = new Set<string>();
  const lastSeqs = new Map<string, number>();
  const faults: string[] = [];
  const before = await heapOf();
  let [most, bytes, responses, cuts, messages] = [before, 0, 0, 0, 0];
  const keep = (line: string) => {
    const { type, chat, message } = JSON.parse(line) as Line;
    if (type === "chat" && chat) {
      if (chats.has(chat.id)) faults.push(`${chat.id} came twice`);
      chats.add(chat.id);
    }
    if (type === "message" && message) {
      messages++;
      const last = lastSeqs.get(message.chatId) ?? 0;
      if (message.seq !== last + 1) faults.push(`${message.chatId}: ${message.seq} follows ${last}`);
      lastSeqs.set(message.chatId, message.seq);
    }
  };
  const begun = performance.now();
  for (let next: string | null = ""; next !== null; responses++) {
    const isLook = responses % RESPONSES_TO_A_LOOK === 0;
    const part = await readExport(place, secret, "/export", next, async () => {
      if (isLook) most = Math.max(most, await heapOf());
      return random() * PARTS_TO_A_CUT < 1;
    });
    for (const line of part.lines) keep(line);
    bytes += part.bytes;
    if (part.isCut) cuts++;
    ({ next } = part);
  }
  const seconds = (performance.now() - begun) / 1_000;
  if (chats.size !== sizes.chats) faults.push(`${chats.size} of ${sizes.chats} chats came`);
  if (messages !== sizes.full * sizes.messages) faults.push(`${messages} messages came`);
  return { seconds, responses, cuts, megabytes: bytes / 1e6, heap: { before, most }, faults };
}

interface Line {
  type: string;
  chat?: { id: string };
  message?: { chatId: string; seq: number };
  next?: string | null;
}

/** Reads a response of an export up to its end, or up to a checkpoint at which `isCut` is true. */
async function readExport(
  place: Place,
  secret: string,
  path: string,
  after: string,
  isCut: () => boolean | Promise<boolean>,
) {
  const query = after === "" ? "" : `?after=${after}`;
  const response = await place.ask(`/api/v1${path}${query}`, { headers: authorized(secret) });
  if (!response.ok || !response.body) throw new Error(`${path} was answered ${response.status}`);
  const decoder = new TextDecoder();
  const lines: string[] = [];
  let next: string | null = after;
  let [rest, kept, bytes] = ["", 0, 0];
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    const whole = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = whole.pop() ?? "";
    for (const line of whole) {
      lines.push(line);
      if (!line.startsWith('{"type":"checkpoint"') && !line.startsWith('{"type":"end"')) continue;
      ({ next = null } = JSON.parse(line) as Line);
      kept = lines.length;
      // What follows in this response is dropped, as by a client whose connection is lost.
      if (next !== null && (await isCut())) return { lines: lines.slice(0, kept), next, bytes, isCut: true };
    }
  }
  return { lines: lines.slice(0, kept), next, bytes, isCut: false };
}

/** Measures sends in a chat, alone and while a long chat of the same organization is exported again and again. */
async function measureSends(
  {
    place,
    server,
    channel,
    secret,
    drive,
  }: { place: Place; server: Server; channel: Channel; secret: string; drive: Driver },
  messages: number,
  { rounds, seconds, log }: Settings,
) {
  log(`Making a chat of ${shown(messages)} messages`);
  const long = await place.chat(channel, messages);
  const { id } = await createChat(channel);
  const url = server.url("parley");
  const request = post(`/api/v1/chats/${id}/messages`, '{"content":"Hello"}', authorized(secret));
  const send = async (connections: number): Promise<SendTurn> => {
    const load = { url, connections, request: () => request, different: 1, statuses: [201] };
    const { requests, seconds: took, p50, unexpected } = await drive(load, seconds);
    if (unexpected !== null) throw new Error(`a send got a wrong response: ${unexpected}`);
    return { rate: requests / took, p50 };
  };
  let bytes = 0;
  let exporting = 0;
  const besideExport = async (connections: number): Promise<SendTurn> => {
    const end = new AbortController();
    const path = `/chats/${long}/export`;
    const exports = (async () => {
      const begun = performance.now();
      for (let next: string | null = ""; !end.signal.aborted; ) {
        const part = await readExport(place, secret, path, next ?? "", () => end.signal.aborted);
        bytes += part.bytes;
        ({ next } = part);
      }
      exporting += (performance.now() - begun) / 1_000;
    })();
    const turn = await send(connections).finally(() => end.abort());
    await exports;
    return turn;
  };
  const sends: Sends[] = [];
  for (const connections of [1, 16]) {
    const [alone, beside]: [SendTurn[], SendTurn[]] = [[], []];
    await send(connections);
    for (let round = 0; round < rounds; round++) {
      log(`Sends over ${connections} connections, round ${round + 1}`);
      if (round % 2 === 0) alone.push(await send(connections));
      beside.push(await besideExport(connections));
      if (round % 2 === 1) alone.push(await send(connections));
    }
    sends.push({ connections, alone: middle(alone), beside: middle(beside) });
  }
  return { sends, exported: bytes / 1e6 / exporting };
}

function middle(turns: SendTurn[]): SendTurn {
  return { rate: median(turns.map(({ rate }) => rate)), p50: median(turns.map(({ p50 }) => p50)) };
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

export function exportText({
  sizes,
  seconds,
  responses,
  cuts,
  megabytes,
  heap,
  sends,
  exported,
  faults,
}: ExportMeasurement) {
  const { chats, full, messages, longChat } = sizes;
  const mb = (bytes: number) => (bytes / 1e6).toFixed(1);
  const peak = `Heap of the isolate that streams: ${mb(heap.before)} MB before, ${mb(heap.most)} MB at most\n`;
  const turn = ({ rate, p50 }: SendTurn) => `${Math.round(rate)} a second, p50 ${p50.toFixed(2)} ms`;
  return [
    `Exported ${shown(chats)} chats, ${full} of them with ${shown(messages)} messages: ${megabytes.toFixed(1)} MB in `,
    `${seconds.toFixed(1)} s, ${responses} responses, ${cuts} of them cut\n`,
    peak,
    `Sends beside the export of a chat of ${shown(longChat)} messages, at ${exported.toFixed(0)} MB a second:\n`,
    ...sends.map(({ connections, alone, beside }) => {
      const ratio = beside.rate / alone.rate;
      return `  ${connections} connections: alone ${turn(alone)}; beside ${turn(beside)}; ratio ${ratio.toFixed(2)}\n`;
    }),
    faults.length === 0 ? "Every line came once.\n" : "",
    ...faults.slice(0, 20).map((fault) => `FAULT: ${fault}\n`),
  ].join("");
}
