import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Office } from "./fixtures.ts";
import type { StepPlace } from "./step-fixtures.ts";

const DAY_MS = 86_400_000;

/** @returns when something is done, or after this many seconds */
export async function waitFor(isDone: () => Promise<boolean>, seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end && !(await isDone())) await delay(200);
}

/** An office with this many entries in its audit log. @param at about when they were made, Unix milliseconds */
export async function auditedOffice(place: StepPlace, count: number, at: number): Promise<Office> {
  const office = await place.office();
  const { id } = office.channel.organization;
  const organization = place.object("ORGANIZATIONS", id);
  const [own] = await organization.sql("select id from audit order by id limit 1");
  const ageMs = Date.now() - at;
  // The ids begin with their time, so the ids of old entries are less.
  const newest = String(own?.id ?? "").slice(0, 13);
  const stem = ageMs > DAY_MS ? `${newest.slice(0, 4)}0000000` : newest;
  await organization.each(
    1,
    count,
    `insert or ignore into audit (id, actor_type, actor_id, actor_name, action, target, status, request_id, changed)
     select ? || printf('%09d', n), 'key', 'key_1', 'Key', 'template.create', null, 201, 'r', '["name","language","body"]'
     from numbers`,
    stem,
  );
  return office;
}

/** Points to events of the chat, or of the organization, one pointer for each. */
export async function pointers(
  place: StepPlace,
  office: Office,
  count: number,
  at: number,
  isOwn = false,
): Promise<void> {
  const { channel, chatId } = office;
  const organization = place.object("ORGANIZATIONS", channel.organization.id);
  const newestDay = "select day, first from feed_days order by day desc limit 1";
  await waitFor(async () => (await organization.sql(newestDay)).length > 0, 30);
  const [known] = await organization.sql(newestDay);
  const day = Math.floor(at / DAY_MS);
  const [chat] = await organization.sql("select life from chats where id = ?", chatId);
  if (known && Number(known.day) !== day) {
    await organization.sql(`alter table feed_${known.day} rename to feed_${day}`);
    await organization.sql("update feed_days set day = ?", day);
  }
  const [last] = await organization.sql(`select coalesce(max(position), 0) as position from feed_${day}`);
  const first = Number(last?.position) + 1;
  const owner = isOwn ? [null, null, channel.id] : [chatId, Number(chat?.life), channel.id];
  await organization.each(
    first,
    first + count - 1,
    `insert into feed_${day} (position, chat_id, life, channel_id, first, last, types, at)
     select n, ?, ?, ?, n - ?, n - ?, ?, ? from numbers`,
    ...[...owner, first - 1, first - 1, isOwn ? "channel.health" : "message.status", at],
  );
}

/** A webhook of an organization whose receiver accepts everything. */
export async function webhookOf(place: StepPlace, { channel }: Office): Promise<{ id: string }> {
  const { webhook } = await place.admin("POST", `/organizations/${channel.organization.id}/webhooks`, {
    url: `http://127.0.0.1:${await receiverPort()}/`,
    perSecond: 500,
    concurrency: 20,
  });
  return webhook;
}

let receiver: Promise<number> | undefined;

/** A receiver that accepts everything. It ends with the process. */
function receiverPort(): Promise<number> {
  receiver ??= new Promise((resolve) => {
    const server = createServer((request, response) => void request.resume().on("end", () => response.end()));
    server.listen(0, "127.0.0.1", () => {
      server.unref();
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : 0);
    });
  });
  return receiver;
}

/** How long a replay may take on a busy machine. */
const REPLAY_MS = 120_000;

/** Makes a replay, for at least this long. @throws Error if it does not find this many events */
export async function replay(
  place: StepPlace,
  office: Office,
  id: string,
  { since, count, seconds }: { since: string; count: number; seconds: number },
): Promise<void> {
  const path = `/webhooks/${id}/replays`;
  const { replay: started } = await place.api(office, "POST", path, { since });
  const end = performance.now() + REPLAY_MS;
  for (let found = 0; found < count; ) {
    await delay(seconds * 1_000);
    ({ found } = (await place.api(office, "GET", `${path}/${started.id}`)).replay);
    if (found < count && performance.now() > end) throw new Error(`The replay found ${found} events`);
  }
}
