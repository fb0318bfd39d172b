import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";

interface FloorEnv {
  DB: D1Database;
  OBJECTS: DurableObjectNamespace<FloorObject>;
}

/** The cheapest possible object. */
export class FloorObject extends DurableObject<FloorEnv> {
  readonly #sql = this.ctx.storage.sql;

  nothing(): void {}

  write(doc: string): void {
    this.#sql.exec("create table if not exists rows (id integer primary key, doc text)");
    this.#sql.exec("insert into rows (doc) values (?)", doc);
  }
}

const OK = { ok: true };
const DOC = JSON.stringify({ text: "x".repeat(400) });

/** As long as the line that a real service logs for each request. */
const LINE = JSON.stringify({ event: "request", route: "x".repeat(160) });

/** The least that a service on this platform does: a route, an object call, a stored row, a query, each by itself. */
const app = new Hono<{ Bindings: FloorEnv }>()
  .get("/bare", (c) => c.json(OK))
  .get("/logged", (c) => {
    console.log(LINE);
    return c.json(OK);
  })
  .get("/one", async (c) => {
    await c.env.OBJECTS.getByName("one").nothing();
    return c.json(OK);
  })
  .get("/two", async (c) => {
    await Promise.all([c.env.OBJECTS.getByName("one").nothing(), c.env.OBJECTS.getByName("two").nothing()]);
    return c.json(OK);
  })
  .post("/write", async (c) => {
    await c.env.OBJECTS.getByName("written").write(DOC);
    return c.json(OK);
  })
  .get("/query", async (c) => {
    await c.env.DB.prepare("select id from rows where id = ?").bind(1).first();
    return c.json(OK);
  });

export default app;
