import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { chatPlace } from "../../../service/chats/object/scheduled/fixtures.ts";
import { runCron } from "../../../service/organizations/cron.ts";
import { newChat, newOrganization } from "../../../support/harness.ts";
import { refuseWrites } from "../../../support/refused-writes.ts";
import { until } from "../../../support/until.ts";

/** The runtime repeats an alarm after 2, 4, 8, 16, 32 and 64 seconds. */
const PATIENCE_MS = 200_000;
const TRIES = 7;

test("an alarm that the runtime has given up rings again after a run of the cron trigger", {
  timeout: 500_000,
}, async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  const object = env.CHATS.getByName(id);
  await chatPlace(api, id).schedule(15_000);
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  const rowOf = () =>
    runInDurableObject(organization, (_object, { storage }) =>
      storage.sql.exec("select next_scheduled_at as at from chats").one(),
    );
  await until("the organization knows when the message is due", rowOf, ({ at }) => at !== null);
  const allow = await refuseWrites(object);
  let tries = 0;
  await runInDurableObject(object, (instance) => {
    const chats = Object.getPrototypeOf(instance) as { alarm: (info: AlarmInvocationInfo) => Promise<void> };
    const { alarm } = chats;
    vi.spyOn(chats, "alarm").mockImplementation(function counted(this: object, info) {
      tries++;
      return alarm.call(this as never, info);
    });
  });
  await until(
    "the runtime has given up the alarm",
    () => tries,
    (count) => count === TRIES,
    PATIENCE_MS,
  );
  allow();
  // The first message creates the table.
  const hasMessages = "select 1 from sqlite_master where name = 'messages'";
  const count = () =>
    runInDurableObject(object, (_object, { storage }) => storage.sql.exec(hasMessages).toArray().length);
  expect(await count()).toBe(0);
  // Each minute, as the platform does, until the message is overdue by two minutes.
  let last = 0;
  const isSent = async () => {
    const minute = Math.floor(Date.now() / 60_000) * 60_000;
    if (minute > last) await runCron((last = minute));
    return count();
  };
  await until("the message is sent", isSent, (rows) => rows === 1, PATIENCE_MS);
  expect(tries).toBeGreaterThan(TRIES);
});
