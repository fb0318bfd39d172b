import { expect, test } from "vitest";
import { breakObjects } from "../../support/faults.ts";
import { admin, created, expectError, expectFaults, newChannel, newOrganization } from "../../support/harness.ts";
import { newManager } from "./manager.ts";

async function place() {
  const { organizationId, channelId } = await newOrganization();
  const patch = (retentionDays: unknown) => admin("PATCH", `/channels/${channelId}`, { retentionDays });
  const read = async () => (await admin("GET", `/channels/${channelId}`)).body.channel.retentionDays;
  return { organizationId, channelId, patch, read };
}

test("a channel keeps its messages forever until the operator sets its retention, and again after null", async () => {
  const { patch, read, channelId } = await place();
  expect(await read()).toBeNull();
  for (const days of [1, 3_650, 30]) expect((await patch(days)).body.channel.retentionDays).toBe(days);
  await admin("PATCH", `/channels/${channelId}`, { name: "Other" });
  expect(await read()).toBe(30);
  expect((await patch(null)).body.channel.retentionDays).toBeNull();
  expect(await read()).toBeNull();
});

test("a channel can be created with a retention", async () => {
  const { organizationId } = await place();
  const body = { kind: "web", name: "Site", retentionDays: 30 };
  const { channel } = created(await admin("POST", `/organizations/${organizationId}/channels`, body));
  expect(channel.retentionDays).toBe(30);
});

test.each([0, -1, 3_651, 1.5, "30", true, {}])("a retention of %j is refused and changes nothing", async (days) => {
  const { patch, read } = await place();
  await patch(7);
  expectFaults(await patch(days), "retentionDays");
  expect(await read()).toBe(7);
});

test("a key that sets, changes or removes a retention needs chats:erase besides", async () => {
  const writer = await newManager({ permissions: ["channels:read", "channels:write"] });
  const path = `/channels/${writer.channelId}`;
  for (const retentionDays of [30, null]) {
    expectError(await writer.api("PATCH", path, { retentionDays }), 403, "permission_denied", /chats:erase/);
  }
  const body = { kind: "web", name: "Site" };
  expectError(await writer.api("POST", "/channels", { ...body, retentionDays: 1 }), 403, "permission_denied");
  expect(created(await writer.api("POST", "/channels", { ...body, retentionDays: null })).channel).toMatchObject({
    retentionDays: null,
  });

  const eraser = await newManager({ permissions: ["channels:read", "channels:write", "chats:erase"] });
  const changed = await eraser.api("PATCH", `/channels/${eraser.channelId}`, { retentionDays: 30 });
  expect(changed.body.channel.retentionDays).toBe(30);
  expect(created(await eraser.api("POST", "/channels", { ...body, retentionDays: 1 })).channel.retentionDays).toBe(1);
});

test("a PATCH whose retention the organization's object does not learn is a 503, and can be repeated", async () => {
  const { organizationId, read } = await place();
  const channelId = await newChannel(organizationId, "telegram");
  const patch = () => admin("PATCH", `/channels/${channelId}`, { retentionDays: 30 });
  const mend = breakObjects("ORGANIZATIONS", "refresh");
  expectError(await patch(), 503, "unavailable");
  mend();
  expect((await patch()).body.channel.retentionDays).toBe(30);
  expect(await read()).toBeNull();
});
