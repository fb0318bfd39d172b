import { env } from "cloudflare:workers";
import * as service from "../../../../src/index.ts";

/** What the platform does not give to this Worker. */
const { BROKEN } = env as unknown as { BROKEN: string };

const AHEAD_MS = BROKEN === "wrong clock" ? 3_600_000 : 0;
const now = Date.now.bind(Date);
Date.now = () => now() + AHEAD_MS;

/** Its alarm rings by its clock, which is wrong. */
function byItsClock(state: DurableObjectState): DurableObjectState {
  const { storage } = state;
  const [set, get] = [storage.setAlarm.bind(storage), storage.getAlarm.bind(storage)];
  storage.setAlarm = (at, ...rest) => set(Number(at) - AHEAD_MS, ...rest);
  storage.getAlarm = async (...given) => {
    const at = await get(...given);
    return at === null ? null : at + AHEAD_MS;
  };
  return state;
}

type Given = [state: DurableObjectState, env: never];

export class ChannelObject extends service.ChannelObject {
  constructor(...[state, own]: Given) {
    super(byItsClock(state), own);
  }
}

export class KeyObject extends service.KeyObject {
  constructor(...[state, own]: Given) {
    super(byItsClock(state), own);
  }
}

export class OrganizationObject extends service.OrganizationObject {
  constructor(...[state, own]: Given) {
    super(byItsClock(state), own);
  }
}

export class WebhookObject extends service.WebhookObject {
  constructor(...[state, own]: Given) {
    super(byItsClock(state), own);
  }
}

export { SearchIndexObject } from "../../../../src/index.ts";

/** Its alarm can be silent, and its bucket keep what it deletes. */
export class ChatObject extends service.ChatObject {
  constructor(...[state, own]: Given) {
    super(byItsClock(state), BROKEN === "files kept" ? (given(own) as never) : own);
  }

  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    if (BROKEN !== "no alarm") await super.alarm(info as never);
  }
}

let uploads = 0;
const halfStored = Promise.withResolvers<void>();

/** The service with one part of the platform missing or wrong. */
export default {
  async fetch(request, own, context) {
    const { pathname, searchParams } = new URL(request.url);
    if (BROKEN === "old version" && pathname === "/healthz") return Response.json({ ok: true });
    if (BROKEN === "no socket" && pathname.endsWith("/socket")) return new Response(null, { status: 502 });
    // The first of two uploads is half stored when the second one comes.
    if (BROKEN === "conditions ignored" && searchParams.get("fileName") === "twice.bin" && uploads++ > 0) {
      await halfStored.promise;
    }
    const response = await service.default.fetch(asked(request), given(own), context);
    if (BROKEN === "buffered stream" && pathname.endsWith("/events/stream")) return buffered(response);
    if (BROKEN === "no ETag") {
      const changed = new Response(response.body, response);
      changed.headers.delete("ETag");
      return response.webSocket ? response : changed;
    }
    return response;
  },
} satisfies ExportedHandler<Env>;

function asked(request: Request): Request {
  if (BROKEN !== "no address" && BROKEN !== "other address") return request;
  const headers = new Headers(request.headers);
  if (BROKEN === "no address") headers.delete("CF-Connecting-IP");
  else headers.set("CF-Connecting-IP", "240.16.0.1");
  return new Request(request, { headers });
}

const wrapped = new WeakMap<Env, Env>();

function given(own: Env): Env {
  let env = wrapped.get(own);
  if (!env) wrapped.set(own, (env = { ...own, ...changes(own) } as Env));
  return env;
}

function changes(own: Env): Partial<Record<keyof Env, unknown>> {
  switch (BROKEN) {
    case "no bucket":
      return { MEDIA: undefined };
    case "no limiter":
      return { STRANGERS: undefined };
    case "no class":
      return { KEYS: undefined };
    case "no D1":
      return {
        DB: {
          prepare: own.DB.prepare.bind(own.DB),
          batch: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")),
        },
      };
    case "conditions ignored":
      return {
        MEDIA: withMethod<Put>(own.MEDIA, "put", (put) => (key, body, { onlyIf: _ignored, ...options }) => {
          if (uploads > 0) halfStored.resolve();
          return put(key, body, options);
        }),
      };
    case "files kept":
      return { MEDIA: withMethod(own.MEDIA, "delete", () => () => Promise.resolve()) };
    case "no eu":
      return { ORGANIZATIONS: without(own.ORGANIZATIONS as never, "eu") };
    default:
      return {};
  }
}

type Put = (key: string, body: ReadableStream, options: R2PutOptions) => Promise<R2Object | null>;

function withMethod<Method>(bucket: R2Bucket, changed: "put" | "delete", change: (method: Method) => Method): R2Bucket {
  const method = change(bucket[changed].bind(bucket) as Method);
  return new Proxy(bucket, {
    get(target, name) {
      if (name === changed) return method;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Objects of this jurisdiction are refused, as to an account that may not use it. */
function without<T extends { jurisdiction(name: string): unknown }>(objects: T, refused: string): T {
  return new Proxy(objects, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name !== "jurisdiction") return typeof value === "function" ? value.bind(target) : value;
      return (place: string) => {
        if (place === refused) throw new Error("Jurisdiction restrictions are not available.");
        return target.jurisdiction(place);
      };
    },
  });
}

/** A response whose bytes come when it ends, as from a front that collects them. */
function buffered({ body, headers, status }: Response): Response {
  const { readable, writable } = new TransformStream();
  const pass = async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body ?? []) chunks.push(chunk as Uint8Array);
    const writer = writable.getWriter();
    for (const chunk of chunks) await writer.write(chunk);
    await writer.close();
  };
  void pass();
  return new Response(readable, { headers, status });
}
