import { and, eq, sql } from "drizzle-orm";
import { SingleFlight } from "../calls/batched-calls.ts";
import { directory, isOutage } from "../db/client.ts";
import { members, templates } from "../db/schema.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { isRecent } from "../platform/clock.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import type { DirectoryTemplate } from "./prepare-template.ts";

/** What a send names: the member and the template, or null. */
export interface SendData {
  /** `name` is the one that contacts see. */
  sender: { name: string } | null;
  template: DirectoryTemplate | null;
}

interface Named {
  senderId?: string | undefined;
  templateId?: string | undefined;
}

type Held<Value> = { value: Value; readAt: number };

/** How long a changed template or a deleted member can still be used. */
const FRESH_MS = 10_000;
/** How long they are used while the directory is down. */
const USABLE_MS = 3_600_000;

const state = perIsolate(() => ({
  reads: new SingleFlight<SendData>(),
  senders: new BoundedMap<string, Held<NonNullable<SendData["sender"]>>>(10_000),
  // At most 4 MB: a template has up to 12 KB of text, which may take twice as much memory.
  templates: new BoundedMap<string, Held<DirectoryTemplate>>(160),
}));

/**
 * The sender and the template that a send names; null if it names neither. This isolate holds them for 10 seconds, and
 * for an hour while the directory is down. What does not exist is not held. Concurrent equal lookups share a query.
 * @throws if the directory is down and they are not held
 */
export async function findSenderAndTemplate(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  organizationId: string,
  { senderId, templateId }: Named,
): Promise<SendData | null> {
  if (senderId === undefined && templateId === undefined) return null;
  const held = heldFor(env, organizationId, { senderId, templateId }, FRESH_MS);
  if (held) return held;
  // JSON, because the client chooses the ids: joined with a separator, two different pairs could look the same.
  const name = JSON.stringify([organizationId, senderId ?? null, templateId ?? null]);
  try {
    return await state(env).reads.ask(ctx, name, () => read(env, organizationId, { senderId, templateId }));
  } catch (error) {
    const old = isOutage(error) ? heldFor(env, organizationId, { senderId, templateId }, USABLE_MS) : null;
    if (!old) throw error;
    return old;
  }
}

/** What is held of all that is named; null if a part of it is missing or older than `maxAge`. */
function heldFor(env: Env, organizationId: string, { senderId, templateId }: Named, maxAge: number): SendData | null {
  const { senders, templates } = state(env);
  const sender = senderId === undefined ? undefined : senders.get(keyOf(organizationId, senderId));
  const template = templateId === undefined ? undefined : templates.get(keyOf(organizationId, templateId));
  const isUsable = (held: Held<unknown> | undefined) => held !== undefined && isRecent(held.readAt, maxAge);
  if (senderId !== undefined && !isUsable(sender)) return null;
  if (templateId !== undefined && !isUsable(template)) return null;
  return { sender: sender?.value ?? null, template: template?.value ?? null };
}

/** In one round trip. */
async function read(env: Env, organizationId: string, { senderId, templateId }: Named): Promise<SendData> {
  const db = directory(env);
  const readAt = Date.now();
  const [[sender], [template]] = await db.batch([
    db
      .select({ name: sql<string>`coalesce(${members.publicName}, ${members.name})` })
      .from(members)
      .where(and(eq(members.id, senderId ?? ""), eq(members.organizationId, organizationId))),
    db
      .select({
        name: templates.name,
        language: templates.language,
        body: templates.body,
        components: templates.components,
        status: sql<string | null>`${templates.network} ->> '$.status'`,
        category: sql<string | null>`${templates.network} ->> '$.category'`,
      })
      .from(templates)
      .where(and(eq(templates.id, templateId ?? ""), eq(templates.organizationId, organizationId))),
  ]);
  const held = state(env);
  if (senderId !== undefined) hold(held.senders, keyOf(organizationId, senderId), sender, readAt);
  if (templateId !== undefined) hold(held.templates, keyOf(organizationId, templateId), template, readAt);
  return { sender: sender ?? null, template: template ?? null };
}

function hold<Value>(held: Map<string, Held<Value>>, key: string, value: Value | undefined, readAt: number): void {
  if (value === undefined) held.delete(key);
  else held.set(key, { value, readAt });
}

function keyOf(organizationId: string, id: string): string {
  return JSON.stringify([organizationId, id]);
}
