import { expect, test } from "vitest";
import { DOCUMENTS, operationsOf } from "../../support/documents.ts";
import { admin, created, expectError, newChat, newOrganization } from "../../support/harness.ts";
import { CREDENTIALS } from "../../support/world/factories.ts";

async function newSender() {
  const { api, channelId, organizationId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  const post = (body: unknown, headers = {}) => api("POST", `/chats/${id}/messages`, body, headers);
  return { api, id, channelId, organizationId, post };
}

test("a misspelled field of a send is named, and the message is stored", async () => {
  const { post } = await newSender();
  const answer = await post({ content: "Hello", sheduledAt: "2027-01-31T09:00:00Z" });
  const { message, warnings, ...others } = created(answer);
  expect([message.status, warnings, others]).toEqual(["SENT", ["sheduledAt is not a field"], {}]);
  expect(answer.headers.get("Content-Type")).toBe("application/json");
  expect(created(await post({ content: "Hello" }))).not.toHaveProperty("warnings");
});

test("a replay has the warnings of its own body", async () => {
  const { post } = await newSender();
  const key = { "Idempotency-Key": "order-4711" };
  const first = created(await post({ content: "Hello", color: "red" }, key));
  const again = await post({ content: "Hello", size: "big" }, key);
  expect(again.headers.get("Idempotent-Replayed")).toBe("true");
  expect(again.body).toEqual({ message: first.message, warnings: ["size is not a field"] });
  expect(created(await post({ content: "Hello" }, key))).toEqual({ message: first.message });
});

test("an error has no warnings", async () => {
  const { api, post } = await newSender();
  for (const answer of [
    await post({ content: "", color: "red" }),
    await api("POST", "/chats/cht_gaaaaaaaaaaaaaaa/messages", { content: "Hello", color: "red" }),
  ]) {
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.body).not.toHaveProperty("warnings");
  }
});

test("a channel's credentials and settings have the fields of its kind", async () => {
  const { organizationId } = await newSender();
  const post = (body: object) => admin("POST", `/organizations/${organizationId}/channels`, { name: "C", ...body });
  const web = created(
    await post({
      kind: "web",
      settings: { perSecond: 5, title: "Hi" },
      credentials: { botToken: CREDENTIALS.telegram.botToken },
    }),
  );
  expect(web.warnings).toEqual(["credentials.botToken is not a field", "settings.perSecond is not a field"]);
  const hours = { timeZone: "UTC", week: { monday: [{ opens: "09:00", closes: "17:00", lunch: "12:00" }] } };
  const patched = await admin("PATCH", `/channels/${web.channel.id}`, {
    settings: { hours, tittle: "Hi" },
    kind: "web",
  });
  expect(patched.body.warnings).toEqual([
    "kind is not a field",
    "settings.hours.week.monday.0.lunch is not a field",
    "settings.tittle is not a field",
  ]);
  expect(patched.body.channel.settings).toMatchObject({ title: "Hi" });
  expect((await admin("PATCH", `/channels/${web.channel.id}`, { settings: null })).body).not.toHaveProperty("warnings");
});

test("a number that can't be carried exactly is refused, and nothing is stored", async () => {
  const { api, id, post } = await newSender();
  const answer = await post('{"content":"x","variables":{"order":12345678901234567890,"total":19.90}}');
  expectError(answer, 400, "validation_failed");
  expect(answer.body.errors).toEqual([
    { path: "variables.order", message: "would be sent as 12345678901234567000. Send it as text, in quotes" },
  ]);
  expect((await api("GET", `/chats/${id}/messages`)).body.messages).toEqual([]);
});

test("every response to a JSON body can have warnings", () => {
  const without = Object.values(DOCUMENTS)
    .flatMap(operationsOf)
    // Of JSON-RPC.
    .filter(({ name }) => name !== "POST /api/v1/mcp")
    .filter(({ operation }) => {
      if (!operation.requestBody?.content["application/json"]) return false;
      const ok = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
      return (
        ok.length === 0 || !ok.every(([, response]) => JSON.stringify(response.content).includes("schemas/Warnings"))
      );
    });
  expect(without.map(({ name }) => name)).toEqual([]);
});
