import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";
import { CALLS } from "../many-calls.ts";

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

  write(doc: string): void {
    this.#sql.exec("create table if not exists rows (id integer primary key, doc text)");
    this.#sql.exec("insert into rows (doc) values (?)", doc);
  }
}

const OK = { ok: true };
const DOC = JSON.stringify({ text: "x".repeat(400) });

/** What every refusal of the service carries, by its contract. */
const REFUSAL = JSON.stringify({ message: "Invalid or expired API key", code: "invalid_api_key" });
const REFUSAL_HEADERS = new Headers({
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "WWW-Authenticate": "Bearer",
});

/** The least that a service on this platform does: a route, an object call, a stored row, a query, each by itself. */
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
  .post("/dropped/:name", async (c) => {
    await c.req.raw.body?.pipeTo(new WritableStream());
    return c.json(OK);
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
