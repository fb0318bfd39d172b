import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { newChat, newOrganization } from "../../support/harness.ts";
import { pass } from "../chats/object/delivery/conversation.ts";
import { chatPlace } from "../chats/object/scheduled/fixtures.ts";
import { checkOf } from "./cron.ts";

const MINUTE = 60_000;

export function loseAlarm(object: DurableObjectStub): Promise<void> {
  return runInDurableObject(object, (_object, { storage }) => storage.deleteAlarm());
}

/** An organization with chats that each had a scheduled message, whose time and alarm have passed. */
export async function overdue(count: number) {
  const place = await newOrganization();
  const { api, channelId, organizationId } = place;
  const objects: DurableObjectStub[] = [];
  for (let n = 0; n < count; n++) {
    const { id } = await newChat(api, channelId);
    const object = env.CHATS.getByName(id);
    await chatPlace(api, id).schedule(MINUTE);
    await runAlarm(object);
    await loseAlarm(object);
    objects.push(object);
  }
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  await runAlarm(organization);
  pass(4 * MINUTE);
  return { ...place, objects, organization };
}

/** Checks that each of many overdue chats is called once, and 20 at once. Needs a stopped clock. */
export async function checkCallsOf(chats: number): Promise<void> {
  const { organizationId, organization } = await overdue(1);
  await runInDurableObject(organization, (_object, { storage }) => {
    storage.sql.exec(`with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < ${chats})
      insert into chats (id, channel_id, state, life, address, metadata, created_at, active_at, report, depth,
        next_scheduled_at, next_due_at, oldest)
      select 'cht_g' || printf('%015d', n), channel_id, state, life, n, metadata, created_at, active_at, 1, n % 3 == 0,
        iif(n % 2 == 0, n, null), iif(n % 3 == 1, n, null), iif(n % 3 == 0 or n % 6 == 5, n, null)
      from numbers, (select * from chats limit 1)`);
  });
  const called: string[] = [];
  let [underWay, most] = [0, 0];
  const { CHATS } = env;
  vi.spyOn(CHATS, "getByName").mockImplementation(((id: string) => ({
    async checkAlarm() {
      called.push(id);
      most = Math.max(most, ++underWay);
      await scheduler.wait(0);
      underWay--;
      return false;
    },
  })) as never);
  for (let runs = 0; called.length < chats && runs < chats / 200; runs++) {
    await Promise.all([checkOf(organizationId), checkOf(organizationId)]);
    pass(MINUTE / 2);
    await runAlarm(organization);
  }
  expect([called.length, new Set(called).size, most]).toEqual([chats, chats, 20]);
}
