import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";
import * as z from "zod/mini";

interface LiteralEnv {
  DB: D1Database;
  LIMITS: DurableObjectNamespace<Limiter>;
}

interface Key {
  id: string;
  organization_id: string;
  sender_id: string;
  rate_limit: number;
}

interface Row {
  id: string;
  chat_id: string;
  sender_id: string;
  content: string;
  status: string;
  created_at: number;
}

/** Counts a key's requests in windows of a minute. */
export class Limiter extends DurableObject<LiteralEnv> {
  take(limit: number): { allowed: boolean; remaining: number } {
    const window = Math.floor(Date.now() / 60_000);
    const stored = this.ctx.storage.kv.get<{ window: number; used: number }>("used");
    const used = stored?.window === window ? stored.used : 0;
    if (used >= limit) return { allowed: false, remaining: 0 };
    this.ctx.storage.kv.put("used", { window, used: used + 1 });
    return { allowed: true, remaining: limit - used - 1 };
  }
}

const sendBody = z.object({ content: z.string().check(z.minLength(1), z.maxLength(4_096)) });

/**
 * The most direct design for the same API: keys, chats and messages in one D1 database, pages by OFFSET and COUNT, and
 * one object for each key that counts its requests. It is well written: its queries have indexes and share batches.
 */
const app = new Hono<{ Bindings: LiteralEnv; Variables: { key: Key; remaining: number } }>()
  .use("/chats/*", async (c, next) => {
    const text = c.req.header("Authorization")?.slice("Bearer ".length) ?? "";
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toHex();
    const key = await c.env.DB.prepare("select id, organization_id, sender_id, rate_limit from api_keys where hash = ?")
      .bind(hash)
      .first<Key>();
    if (!key) return c.json({ message: "Invalid or expired API key" }, 401);
    const { allowed, remaining } = await c.env.LIMITS.getByName(key.id).take(key.rate_limit);
    if (!allowed) return c.json({ message: "Rate limit exceeded" }, 429);
    c.set("key", key);
    c.set("remaining", remaining);
    await next();
    c.res.headers.set("X-RateLimit-Remaining", String(remaining));
    return;
  })
  .get("/chats/:id/messages", async (c) => {
    const page = Number(c.req.query("page") ?? 1);
    const limit = Number(c.req.query("limit") ?? 20);
    const id = c.req.param("id");
    const [chat, counted, rows] = await c.env.DB.batch<Record<string, unknown>>([
      c.env.DB.prepare("select id from chats where id = ? and organization_id = ?").bind(id, c.var.key.organization_id),
      c.env.DB.prepare("select count(*) as total from messages where chat_id = ?").bind(id),
      c.env.DB.prepare(
        "select * from messages where chat_id = ? order by created_at desc, id desc limit ? offset ?",
      ).bind(id, limit, (page - 1) * limit),
    ]);
    if (chat?.results.length !== 1) return c.json({ error: "Chat not found" }, 404);
    const total = Number(counted?.results[0]?.total);
    const messages = (rows?.results ?? []).map((row) => present(row as unknown as Row));
    const totalPages = Math.ceil(total / limit);
    return c.json({ messages, pagination: { page, limit, total, totalPages, hasMore: page < totalPages } });
  })
  .post("/chats/:id/messages", async (c) => {
    const body = sendBody.safeParse(await c.req.json());
    if (!body.success) return c.json({ message: "Validation failed" }, 400);
    const { organization_id, sender_id } = c.var.key;
    const chat = await c.env.DB.prepare("select id from chats where id = ? and organization_id = ?")
      .bind(c.req.param("id"), organization_id)
      .first<{ id: string }>();
    if (!chat) return c.json({ error: "Chat not found" }, 404);
    const row: Row = {
      id: crypto.randomUUID(),
      chat_id: chat.id,
      sender_id,
      content: body.data.content,
      status: "SENT",
      created_at: Date.now(),
    };
    await c.env.DB.batch([
      c.env.DB.prepare(
        "insert into messages (id, chat_id, sender_id, content, status, created_at) values (?, ?, ?, ?, ?, ?)",
      ).bind(row.id, row.chat_id, row.sender_id, row.content, row.status, row.created_at),
      c.env.DB.prepare("update chats set last_message_at = ? where id = ?").bind(row.created_at, row.chat_id),
    ]);
    return c.json({ message: present(row) }, 201);
  });

/** A message with as many fields, and as many bytes, as one of Parley. */
function present({ id, chat_id, sender_id, content, status, created_at }: Row) {
  const at = new Date(created_at).toISOString();
  return {
    id,
    chatId: chat_id,
    direction: "OUTBOUND",
    type: "TEXT",
    content,
    mediaUrl: null,
    senderId: sender_id,
    templateId: null,
    variables: null,
    text: content,
    status,
    error: null,
    metadata: {},
    createdAt: at,
    updatedAt: at,
  };
}

export default app;
