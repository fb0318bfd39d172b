import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { alarmAt, runAlarm } from "../../../support/alarms.ts";
import { breakObjects, replaceMethod } from "../../../support/faults.ts";
import { admin, newChat, newOrganization } from "../../../support/harness.ts";
import { pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";

stopTheClock();

test("an organization that is erased while its alarm works sets no alarm, and nothing of it fails", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  const object = env.ORGANIZATIONS.getByName(organizationId);
  const mend = breakObjects("CHATS", "erase");
  expect((await admin("DELETE", `/chats/${id}`)).status).toBe(503);
  mend();
  replaceMethod("CHATS", "erase", (original) => async (...given) => {
    await env.ORGANIZATIONS.getByName(organizationId).erase();
    return original(...given);
  });
  const errors = vi.spyOn(console, "error");
  pass(60_000);
  expect(await runAlarm(object)).toBe(true);
  expect(errors).not.toHaveBeenCalled();
  expect(await alarmAt(object)).toBeNull();
});
