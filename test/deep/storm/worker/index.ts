import "./life.ts";
import worker, * as service from "../../../../src/index.ts";
import { DIRECTORY_PATH, type DirectoryTally } from "./tally.ts";

/** The connection below the runtime's D1 binding. */
type Line = Pick<Fetcher, "fetch">;
type Binding = new (line: Line) => D1Database;

const tally: DirectoryTally = { calls: 0, rowsWritten: 0, failed: 0 };
let isDown = false;

const lost = () => Object.assign(new Error("Network connection lost."), { retryable: true });

/**
 * How D1 fails, in turn: the connection is lost before a response, the response is cut off, or the response says that D1
 * is overloaded. The runtime's own binding makes the error of each.
 */
const FAILURES: (() => Response)[] = [
  () => {
    throw lost();
  },
  () => new Response(new ReadableStream({ start: (stream) => stream.error(lost()) })),
  () => Response.json({ success: false, error: "D1 DB is overloaded. Requests queued for too long." }),
];

/** The same environment, whose D1 counts and can be taken down. */
function withLine(env: Env): Env {
  const { fetcher } = env.DB as unknown as { fetcher: Line };
  const Runtime = Object.getPrototypeOf(env.DB).constructor as Binding;
  const fetch: Line["fetch"] = async (...given) => {
    tally.calls++;
    if (isDown) return (FAILURES[tally.failed++ % FAILURES.length] as () => Response)();
    const response = await fetcher.fetch(...given);
    const results = [await response.clone().json()].flat() as { meta?: { rows_written?: number } }[];
    for (const { meta } of results) tally.rowsWritten += meta?.rows_written ?? 0;
    return response;
  };
  return { ...env, DB: new Runtime({ fetch }) };
}

const lines = new WeakMap<Env, Env>();

function lineOf(env: Env): Env {
  const line = lines.get(env) ?? withLine(env);
  lines.set(env, line);
  return line;
}

// biome-ignore lint/suspicious/noExplicitAny: TypeScript requires it for a class that extends any class
function onLine<C extends new (...given: any[]) => object>(Original: C) {
  return class extends Original {
    // biome-ignore lint/suspicious/noExplicitAny: as above
    constructor(...[state, env]: any[]) {
      super(state, lineOf(env));
    }
  };
}

export class KeyObject extends onLine(service.KeyObject) {}
export class OrganizationObject extends onLine(service.OrganizationObject) {}
export class ChatObject extends onLine(service.ChatObject) {}
export class ChannelObject extends onLine(service.ChannelObject) {}
export class WebhookObject extends onLine(service.WebhookObject) {}

/** The service, with a D1 that storms can take down. */
export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname === DIRECTORY_PATH) {
      if (request.method === "PUT") isDown = (await request.json<{ down: boolean }>()).down;
      return Response.json(tally);
    }
    return worker.fetch(request, lineOf(env), context);
  },
} satisfies ExportedHandler<Env>;
