import { readFile } from "node:fs/promises";
import { createChannel, createKey, createOrganization } from "../support/world/factories.ts";
import { lastingPort } from "../support/world/lasting-port.ts";
import { Place } from "./fixtures.ts";
import { type Inspector, openInspector } from "./inspector.ts";
import { authorized } from "./request.ts";
import { type Server, type Setup, withServer } from "./server.ts";
import { lastPage, shown } from "./sizes.ts";

/** What the isolate of one chat's object holds after reads of its first and last pages, and some sends. */
export interface Memory {
  messages: number;
  /** Bytes of JavaScript, after a collection of garbage. */
  heap: number;
}

const SENDS = 50;

/** The memory of one chat's object, for chats of these lengths. */
export async function measureMemory(setup: Setup, lengths: number[], log: (line: string) => void): Promise<Memory[]> {
  const memories: Memory[] = [];
  for (const messages of lengths) {
    log(`Memory of the object of a chat of ${shown(messages)} messages`);
    const chat = await withServer(setup, { counted: true, showErrors: true }, (server) =>
      filledChat(server, setup, messages),
    );
    const inspector = await lastingPort();
    const heap = await withServer(setup, { counted: false, showErrors: false, inspector }, async (server) => {
      await use(server, chat, messages);
      return heapOf("parley-objects", inspector);
    });
    memories.push({ messages, heap });
  }
  return memories;
}

interface Chat {
  path: string;
  secret: string;
}

async function filledChat(server: Server, { secrets }: Setup, messages: number): Promise<Chat> {
  const place = new Place(server, secrets.ADMIN_TOKEN);
  const organization = await createOrganization(place);
  const chatId = await place.chat(await createChannel(organization), messages);
  const { secret } = await createKey(organization);
  return { path: `/api/v1/chats/${chatId}/messages`, secret };
}

async function use(server: Server, { path, secret }: Chat, messages: number): Promise<void> {
  const ask = async (query: string, init: RequestInit = {}) => {
    const response = await fetch(new URL(path + query, server.url("parley")), { headers: authorized(secret), ...init });
    const text = await response.text();
    if (!response.ok) throw new Error(`${query} was answered ${response.status}: ${text}`);
    return JSON.parse(text) as { messages: { id: string }[] };
  };
  for (const page of [1, Math.ceil(lastPage(messages) / 2), lastPage(messages)]) {
    const { messages: rows } = await ask(`?page=${page}`);
    await ask(`?before=${rows[0]?.id}&limit=100`);
  }
  for (let n = 0; n < SENDS; n++) await ask("", { method: "POST", body: '{"content":"Hello"}' });
  await ask("");
}

/** The bytes of JavaScript on an isolate's heap, after a collection of garbage. */
async function heapOf(worker: string, port: number): Promise<number> {
  const inspector = await openInspector(worker, port);
  await inspector.call("HeapProfiler.enable");
  await inspector.call("HeapProfiler.collectGarbage");
  const { usedSize } = await inspector.call<{ usedSize: number }>("Runtime.getHeapUsage");
  await inspector.close();
  return usedSize;
}

/** The memory of a process, in MB; 0 outside Linux. */
export async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1_024) / 1e6;
}

/** What an isolate holds of JavaScript and of buffers, garbage included, in MB. */
export async function heldBy(isolate: Inspector): Promise<number> {
  const usage = await isolate.call<{ usedSize: number; backingStorageSize?: number }>("Runtime.getHeapUsage");
  return (usage.usedSize + (usage.backingStorageSize ?? 0)) / 1e6;
}
