import { and, asc, eq, isNull, notExists, or, sql } from "drizzle-orm";
import { alias, type SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { ChannelRecord } from "../../calls/channel-record.ts";
import { type Directory, directory } from "../../db/client.ts";
import { hasRoomForRow } from "../../db/row-ceilings.ts";
import { insertion } from "../../db/rows.ts";
import { templates } from "../../db/schema.ts";
import { jurisdictionOf, newId } from "../../model/id.ts";
import type { TemplateNotice } from "../../model/network.ts";
import type { ListedTemplate, StoredTemplateState, TemplateKey } from "../../model/template.ts";
import { isRecent } from "../../platform/clock.ts";
import { ADAPTERS, networkOf } from "../registry.ts";

type TemplateRow = typeof templates.$inferSelect;

/** A network's account, and the organization whose templates follow it. */
interface Account {
  organizationId: string;
  wabaId: string;
}

export interface SyncCounts {
  created: number;
  updated: number;
  /** Those that can't be read, and those for which the organization has no room. */
  skipped: number;
}

/** `unfinished`: the network stopped answering, and what it had listed is stored. */
export type SyncAnswer =
  | ({ outcome: "synced" } & SyncCounts)
  | { outcome: "no_account" | "no_templates" }
  | { outcome: "refused" | "away"; description: string };

/** An account has at most 6,000 templates. */
const MAX_PAGES = 70;
/** No page is asked for later. */
const DEADLINE_MS = 240_000;

/**
 * Makes an organization's templates those of a channel's account at its network. A template of the organization with the
 * same name and language, the oldest one, becomes the network's. None is deleted. What is the same is not written.
 */
export async function syncTemplates(env: Env, channel: ChannelRecord): Promise<SyncAnswer> {
  const { kind, organizationId, credentials } = channel;
  const { wabaId } = channel.settings;
  const list = kind === "web" ? undefined : ADAPTERS[kind].listTemplates;
  if (kind === "web" || !list) return { outcome: "no_templates" };
  if (wabaId === undefined) return { outcome: "no_account" };
  const db = directory(env);
  const account = { organizationId, wabaId };
  const counts: SyncCounts = { created: 0, updated: 0, skipped: 0 };
  const listed = new Set<string>();
  let after: string | null = null;
  const startedAt = Date.now();
  for (let page = 0; page < MAX_PAGES; page++) {
    const saidAt = wholeSeconds(Date.now());
    if (!isRecent(startedAt, DEADLINE_MS)) return { outcome: "away", description: "The network is too slow" };
    const answer = await list({ wabaId, after }, credentials, networkOf(env, kind));
    if (answer.outcome !== "page") return answer;
    const found = new Map<string, ListedTemplate>();
    for (const each of answer.templates) {
      if (each) listed.add(keyOf(each.key));
      if (each?.template) found.set(keyOf(each.key), each.template);
      else counts.skipped++;
    }
    await storePage(db, account, [...found.values()], saidAt, counts);
    if (answer.next === null) {
      counts.updated += await markDeleted(db, account, listed, saidAt);
      break;
    }
    if (answer.next === after) break;
    after = answer.next;
  }
  return { outcome: "synced", ...counts };
}

/**
 * Stores what a network reports about a template, unless it has reported something newer.
 * @returns whether the stored state is what holds now. If not, the template is not known, or the news is late: what is
 *   newer may have been about something else
 */
export async function storeTemplateNews(
  env: Env,
  organizationId: string,
  news: Omit<TemplateNotice, "kind" | "change"> & { change: NonNullable<TemplateNotice["change"]> },
): Promise<boolean> {
  const { wabaId, at, change } = news;
  const db = directory(env);
  const row = await db
    .select()
    .from(templates)
    .where(isTemplate(templates, { organizationId, wabaId }, news))
    .get();
  if (!row?.network) return false;
  if (isSame({ ...row.network, ...change }, row.network)) return true;
  const now = Date.now();
  const saidAt = wholeSeconds(at);
  // Field by field: other news may come at the same time.
  const fields = Object.entries({ ...change, syncedAt: now, saidAt }).map(
    ([key, value]) => sql`${`$.${key}`}, ${value}`,
  );
  const stored = await db
    .update(templates)
    .set({ network: sql`json_set(${templates.network}, ${sql.join(fields, sql`, `)})`, updatedAt: now })
    .where(and(eq(templates.id, row.id), wasSaidBy(saidAt)))
    .returning({ id: templates.id });
  return stored.length > 0;
}

/** One query for a page, and one batch if something differs. */
async function storePage(
  db: Directory,
  account: Account,
  found: ListedTemplate[],
  saidAt: number,
  counts: SyncCounts,
): Promise<void> {
  const { organizationId, wabaId } = account;
  const names = JSON.stringify([...new Set(found.map(({ name }) => name))]);
  const rows = await db
    .select()
    .from(templates)
    .where(
      and(
        eq(templates.organizationId, organizationId),
        or(eq(templates.wabaId, wabaId), isNull(templates.wabaId)),
        // One JSON parameter, because a D1 statement takes at most 100 parameters.
        sql`${templates.name} in (select value from json_each(${names}))`,
      ),
    )
    .orderBy(asc(templates.createdAt), asc(templates.id));
  const own = new Map<string, TemplateRow>();
  const unsynced = new Map<string, TemplateRow>();
  for (const row of rows) {
    const rest = row.wabaId === null ? unsynced : own;
    if (!rest.has(keyOf(row))) rest.set(keyOf(row), row);
  }
  const created = [];
  const updated = [];
  for (const template of found) {
    const row = own.get(keyOf(template)) ?? unsynced.get(keyOf(template));
    if (!row) created.push(creation(db, account, template, saidAt));
    else if (differs(row, template)) updated.push(change(db, account, row, template, saidAt));
  }
  const [first, ...more] = [...created, ...updated];
  if (!first) return;
  const results = (await db.batch([first, ...more])) as unknown[][];
  const isDone = results.map((result) => result.length > 0);
  const made = isDone.slice(0, created.length).filter(Boolean).length;
  counts.created += made;
  counts.skipped += created.length - made;
  counts.updated += isDone.slice(created.length).filter(Boolean).length;
}

function creation(db: Directory, { organizationId, wabaId }: Account, template: ListedTemplate, saidAt: number) {
  const { name, language } = template;
  const now = Date.now();
  const id = newId("tpl", jurisdictionOf(organizationId));
  const columns = columnsOf(template, wabaId, saidAt, now);
  const row: TemplateRow = { id, organizationId, name, language, ...columns, createdAt: now, updatedAt: now };
  // Another sync may insert it at the same time.
  return insertion(db, templates, row, hasRoomForRow("templates"))
    .onConflictDoNothing()
    .returning({ organizationId: templates.organizationId });
}

/** A row that another sync changed to something newer stays, and so does one whose place another row has taken. */
function change(db: Directory, account: Account, row: TemplateRow, template: ListedTemplate, saidAt: number) {
  const now = Date.now();
  const other = alias(templates, "other");
  const taken = db
    .select({ id: other.id })
    .from(other)
    .where(and(isTemplate(other, account, row), sql`${other.id} <> ${row.id}`));
  return db
    .update(templates)
    .set({ ...columnsOf(template, account.wabaId, saidAt, now), updatedAt: now })
    .where(
      and(
        eq(templates.id, row.id),
        eq(templates.name, row.name),
        eq(templates.language, row.language),
        wasSaidBy(saidAt),
        notExists(taken),
      ),
    )
    .returning({ organizationId: templates.organizationId });
}

/** @param listed the templates that the network has, all of them */
async function markDeleted(db: Directory, account: Account, listed: Set<string>, saidAt: number): Promise<number> {
  const { organizationId, wabaId } = account;
  const rows = await db
    .select({
      id: templates.id,
      name: templates.name,
      language: templates.language,
      network: templates.network,
    })
    .from(templates)
    .where(and(eq(templates.organizationId, organizationId), eq(templates.wabaId, wabaId)));
  const now = Date.now();
  const gone = rows.flatMap(({ id, network, ...key }) => {
    if (!network || network.status === "DELETED" || listed.has(keyOf(key))) return [];
    return db
      .update(templates)
      .set({ network: { ...network, status: "DELETED", syncedAt: now, saidAt }, updatedAt: now })
      .where(and(eq(templates.id, id), wasSaidBy(saidAt)))
      .returning({ id: templates.id });
  });
  const [first, ...more] = gone;
  if (!first) return 0;
  const results = (await db.batch([first, ...more])) as unknown[][];
  return results.filter((result) => result.length > 0).length;
}

type KeyColumns = Record<"organizationId" | "wabaId" | "name" | "language", SQLiteColumn>;

/** A condition: the row is an account's template with this key. */
function isTemplate(table: KeyColumns, { organizationId, wabaId }: Account, { name, language }: TemplateKey) {
  const isOfAccount = and(eq(table.organizationId, organizationId), eq(table.wabaId, wabaId));
  return and(isOfAccount, eq(table.name, name), eq(table.language, language));
}

/** A condition: the row has no newer news than this. Null counts as the oldest. */
function wasSaidBy(saidAt: number) {
  return sql`coalesce(${templates.network} ->> '$.saidAt', 0) <= ${saidAt}`;
}

function columnsOf(
  { body, components, parameterFormat, state }: ListedTemplate,
  wabaId: string,
  at: number,
  now: number,
) {
  return { body, wabaId, components, parameterFormat, network: { ...state, syncedAt: now, saidAt: at } };
}

function differs(row: TemplateRow, template: ListedTemplate): boolean {
  if (row.wabaId === null || row.network === null) return true;
  const { body, components, parameterFormat, state } = template;
  const stored = [row.body, row.components, row.parameterFormat];
  return JSON.stringify(stored) !== JSON.stringify([body, components, parameterFormat]) || !isSame(row.network, state);
}

/** Whether a network says the same. */
function isSame(one: Omit<StoredTemplateState, "syncedAt" | "saidAt">, other: typeof one): boolean {
  return (["id", "status", "category", "quality", "rejectedReason"] as const).every((key) => one[key] === other[key]);
}

function keyOf({ name, language }: TemplateKey): string {
  return `${name}\n${language}`;
}

/** A network's times are in whole seconds. */
function wholeSeconds(at: number): number {
  return Math.floor(at / 1_000) * 1_000;
}
