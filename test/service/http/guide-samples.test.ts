import { expect, test } from "vitest";
import readme from "../../../README.md?raw";
import { admin, client, created, expectError, newChat, newOrganization } from "../../support/harness.ts";
import { guides } from "./guide-texts.ts";

/** The JSON that the README and the guides show, without those that have comments or dots. */
const SHOWN = [readme, ...Object.values(guides)].flatMap((text) =>
  [...text.matchAll(/^```json.*\n([\s\S]*?)^```/gm)].flatMap(([, code = ""]) => {
    try {
      return [JSON.parse(code) as Record<string, unknown>];
    } catch {
      return [];
    }
  }),
);

test("each error that a guide shows is one that the service sends", async () => {
  const { api, channelId } = await newOrganization();
  const sent = [
    await api("GET", "/chats/cht_gT2sYbQ0aLw9XcRk"),
    await api("POST", "/chats", { channelId, contact: { address: true } }),
  ].map(({ body }) => body);
  const shown = SHOWN.filter(({ code }) => typeof code === "string");
  expect(shown.length).toBeGreaterThanOrEqual(2);
  for (const error of shown) expect(sent).toContainEqual(error);
});

test("each sent message that the README or a guide shows has the fields of a real one", async () => {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const { body } = await api("POST", `/chats/${chat.id}/messages`, { content: "Hello from Parley" });
  expect(body.message.status).toBe("SENT");
  const shown = SHOWN.map(({ message }) => message as { status?: string } | undefined);
  const sent = shown.filter((message) => message?.status === "SENT");
  expect(sent.length).toBeGreaterThanOrEqual(2);
  for (const message of sent) expect(Object.keys(message ?? {})).toEqual(Object.keys(body.message));
});

test("the guide's read-only key reads, and can't write", async () => {
  const [, section = ""] = guides["../../../src/docs/operating.md"]?.split("\n### A read-only key\n") ?? [];
  const [, code = ""] = /^```sh curl\n([\s\S]*?)^```/m.exec(section) ?? [];
  const [, path = ""] = /"https:\/\/parley\.example\/admin\/v1([^"]+)"/.exec(code) ?? [];
  const [, body = ""] = /-d '(.*)'/.exec(code) ?? [];
  const { organizationId, api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const answer = await admin("POST", path.replace(/org_\w+/, organizationId), JSON.parse(body));
  const reader = client(created(answer).secret);
  for (const route of ["/chats", `/chats/${chat.id}/messages`, "/stats"]) {
    expect((await reader("GET", route)).status, route).toBe(200);
  }
  expectError(await reader("POST", `/chats/${chat.id}/messages`, { content: "Hi" }), 403, "permission_denied");
  expectError(await reader("PATCH", `/chats/${chat.id}`, { metadata: {} }), 403, "permission_denied");
});
