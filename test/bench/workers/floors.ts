import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";
import { CALLS } from "../many-calls.ts";
import { away } from "./away.ts";

interface FloorEnv {
  DB: D1Database;
  MEDIA: R2Bucket;
  OBJECTS: DurableObjectNamespace<FloorObject>;
}

/** The cheapest possible object. */
export class FloorObject extends DurableObject<FloorEnv> {
  readonly #sql = this.ctx.storage.sql;

  nothing(): void {}

  read(): string {
    return this.#sql.exec<{ doc: string }>("select doc from rows limit 1").one().doc;
  }

  /** Takes what a read of a page is asked with, and answers a text as it does. */
  answer(_asked: unknown, _position: unknown, _version: unknown): string {
    return ANSWER;
  }

  /** Writes as many rows as a send. */
  writeTwo(_asked: unknown, doc: string): string {
    this.write(doc);
    this.#sql.exec("create table if not exists events (id integer primary key, doc text)");
    this.#sql.exec("insert into events (doc) values (?)", doc);
    return doc;
  }

  write(doc: string): void {
    this.#sql.exec("create table if not exists rows (id integer primary key, doc text)");
    this.#sql.exec("insert into rows (doc) values (?)", doc);
  }
}

const OK = { ok: true };
const DOC = JSON.stringify({ text: "x".repeat(400) });

/** What every refusal of the service carries, by its contract. */
const REFUSAL = JSON.stringify({ message: "Invalid or expired API key", code: "invalid_api_key" });
const SAFE = {
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};
const REFUSAL_HEADERS = new Headers({ ...SAFE, "WWW-Authenticate": "Bearer" });

const ANSWER = JSON.stringify({ outcome: "unchanged", version: "1".repeat(16) });
const AS = { organizationId: "org_g1234567890123456", knownIdentity: null, isRepeat: false, asText: true };
/** A page of 20 short messages, with the headers that a list has. */
const PAGE = new TextEncoder().encode("x".repeat(10_700));
const OWN_HEADERS = {
  "X-RateLimit-Limit": "300",
  "X-RateLimit-Remaining": "299",
  "X-RateLimit-Reset": "1800000000",
  "RateLimit-Policy": '"default";q=300;w=60',
  RateLimit: '"default";r=299;t=60',
  ETag: '"0123456789abcdef0123456789abcdef"',
};
const DEFAULT_HEADERS = new Headers(SAFE);

function answered(body: string | Uint8Array, status: number): Response {
  const response = new Response(body, { status, headers: DEFAULT_HEADERS });
  response.headers.set("X-Request-Id", crypto.randomUUID());
  for (const [name, value] of Object.entries(OWN_HEADERS)) response.headers.set(name, value);
  return response;
}

/** The least that a service on this platform does: a route, an object call, a stored row, a query, each alone. */
const app = new Hono<{ Bindings: FloorEnv }>()
  .get("/bare", (c) => c.json(OK))
  .get("/refusal", () => {
    const response = new Response(REFUSAL, { status: 401, headers: REFUSAL_HEADERS });
    response.headers.set("X-Request-Id", crypto.randomUUID());
    return response;
  })
  .get("/one", async (c) => {
    await c.env.OBJECTS.getByName("one").nothing();
    return c.json(OK);
  })
  .get("/two", async (c) => {
    await Promise.all([c.env.OBJECTS.getByName("one").nothing(), c.env.OBJECTS.getByName("two").nothing()]);
    return c.json(OK);
  })
  .get("/far/:ms", async (c) => {
    const ms = Number(c.req.param("ms"));
    await away(ms);
    await c.env.OBJECTS.getByName("one").nothing();
    await away(ms);
    return c.json(OK);
  })
  .get("/list/:chat", async (c) => {
    await c.env.OBJECTS.getByName(c.req.param("chat")).answer(AS, { page: 1, limit: 20 }, "1".repeat(16));
    return answered(PAGE, 200);
  })
  .post("/send/:chat", async (c) => {
    const { content } = (await c.req.json()) as { content: string };
    return answered(await c.env.OBJECTS.getByName(c.req.param("chat")).writeTwo(AS, DOC + content), 201);
  })
  .get("/many", async (c) => {
    await Promise.all(Array.from({ length: CALLS }, () => c.env.OBJECTS.getByName("one").nothing()));
    return c.json(OK);
  })
  .post("/write", async (c) => {
    await c.env.OBJECTS.getByName("written").write(DOC);
    return c.json(OK);
  })
  .post("/write/:name", async (c) => {
    await c.env.OBJECTS.getByName(c.req.param("name")).write(DOC);
    return c.json(OK);
  })
  .get("/read/:one/:other", async (c) => {
    await c.env.OBJECTS.getByName(c.req.param("one")).read();
    return c.json({ row: await c.env.OBJECTS.getByName(c.req.param("other")).read() });
  })
  .get("/read-and-query/:one/:other", async (c) => {
    await c.env.OBJECTS.getByName(c.req.param("one")).read();
    await c.env.DB.prepare("select id from rows where id = ?").bind(1).first();
    return c.json({ row: await c.env.OBJECTS.getByName(c.req.param("other")).read() });
  })
  .post("/put/:name", async (c) => {
    await c.env.MEDIA.put(c.req.param("name"), c.req.raw.body);
    return c.json(OK);
  })
  .get("/query", async (c) => {
    await c.env.DB.prepare("select id from rows where id = ?").bind(1).first();
    return c.json(OK);
  });

export default app;
