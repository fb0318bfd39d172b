import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Chat } from "../../../../src/model/chat.ts";
import { FOLDING_VERSION } from "../../../../src/model/folding.ts";
import { runAlarm } from "../../../support/alarms.ts";
import { type Answer, type Client, created, newOrganization } from "../../../support/harness.ts";

const CONTACTS = [
  { address: "maya@shop.test", name: "Maya Okafor" },
  { address: "MARA-LOU@shop.test", name: "Mara-Lou O'Neil" },
  { address: "+1 555 078 3881", name: "Jürgen Groß" },
  { address: "khalid", name: "خالد المهدي" },
  { address: "1999", name: null },
  { address: "emoji", name: "Ana 👍 Ma" },
  { address: "50%_off", name: '100% "sure" _it\'s_' },
];

/** An organization with a chat for each of the contacts. */
export async function place() {
  const organization = await newOrganization();
  const ids: string[] = [];
  for (const contact of CONTACTS) ids.push(await add(organization.api, organization.channelId, contact));
  return { ...organization, ids, find: finder(organization.api) };
}

/** A place whose chats have reported: a late report reads rows while others are counted. */
export async function quietPlace() {
  const found = await place();
  await Promise.all(found.ids.map((id) => runAlarm(env.CHATS.getByName(id))));
  return found;
}

/** Creates a chat. @returns its id */
export async function add(api: Client, channelId: string, contact: { address: string; name?: string | null }) {
  return created(await api("POST", "/chats", { channelId, contact })).chat.id as string;
}

/** Searches as a client. */
export function finder(api: Client) {
  return (search: string, more = "") => api("GET", `/chats?search=${encodeURIComponent(search)}${more}`);
}

/** The ids of the chats in an answer. */
export function idsOf(answer: Answer): string[] {
  expect(answer.status, answer.text).toBe(200);
  return answer.body.chats.map(({ id }: Chat) => id);
}

export function object(organizationId: string) {
  return env.ORGANIZATIONS.getByName(organizationId);
}

/** The terms of an organization's contacts, each with the number of its chat in `ids`. */
export function termsIn(organizationId: string, ids: string[]): Promise<[string, number][]> {
  return runInDurableObject(object(organizationId), (_object, { storage }) =>
    storage.sql
      .exec<{ term: string; chat_id: string }>("select term, chat_id from contact_terms order by kind, term, chat_id")
      .toArray()
      .map(({ term, chat_id }) => [term, ids.indexOf(chat_id)] as [string, number]),
  );
}

/** The id of one of `withOldChats`. */
export function oldId(number: number): string {
  return `cht_g${String(number).padStart(15, "0")}`;
}

/** Writes chats into the object, whose terms are those of an older folding. */
export async function withOldChats(organizationId: string, channelId: string, count: number) {
  await runInDurableObject(object(organizationId), (_object, { storage }) => {
    storage.sql.exec("update contact_folding set version = 1");
    for (let number = 0; number < count; number++) {
      storage.sql.exec(
        `insert into chats (id, channel_id, state, life, address, name, metadata, created_at, active_at)
         values (?, ?, 'adopted', 1, ?, 'Old Contact', '{}', 1, ?)`,
        oldId(number),
        channelId,
        `old-${number}`,
        number,
      );
    }
  });
  await evictDurableObject(object(organizationId));
}

/** The ids of all pages. */
export async function pagesOf(page: (more: string) => Promise<Answer>): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const answer: Answer = await page(cursor && `&after=${cursor}`);
    found.push(...idsOf(answer));
    cursor = answer.body.pagination.cursor;
  }
  return found;
}

/** Runs the alarm until all terms are there. */
export async function filled(organizationId: string) {
  do await runAlarm(object(organizationId));
  while (!(await isFilled(organizationId)));
}

/** Whether all terms are there. */
export function isFilled(organizationId: string): Promise<boolean> {
  return runInDurableObject(
    object(organizationId),
    (_object, { storage }) =>
      storage.sql
        .exec(
          "select 1 from contact_fill union all select 1 from contact_folding where version <> ? limit 1",
          FOLDING_VERSION,
        )
        .toArray().length === 0,
  );
}
