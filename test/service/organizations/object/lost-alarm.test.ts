import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { breakObject } from "../../../support/faults.ts";
import { admin, created, newChat, newOrganization } from "../../../support/harness.ts";
import { until } from "../../../support/until.ts";
import { crash } from "../../chats/object/delivery/conversation.ts";

test("the platform repeats an alarm whose object was lost, also if a later one was asked for meanwhile", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  const members = `/organizations/${organizationId}/members`;
  const { member } = created(await admin("POST", members, { name: "Ann" }));
  expect((await api("PATCH", `/chats/${id}`, { assigneeId: member.id })).status).toBe(200);
  const calls = breakObject("CHATS", id, "free", "hangs");
  expect((await admin("DELETE", `/members/${member.id}`)).status).toBe(200);
  await until("the chat is asked to let the member go", calls);
  // Its row in the audit log goes after 400 days.
  created(await admin("POST", members, { name: "Bob" }));
  vi.restoreAllMocks();
  await crash(env.ORGANIZATIONS.getByName(organizationId));
  await until(
    "the chat is free",
    async () => (await admin("GET", `/chats/${id}`)).body.chat,
    ({ assigneeId }) => assigneeId === null,
  );
});
