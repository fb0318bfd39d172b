import { exports } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import guide from "../../../src/docs/using-the-api.md?raw";
import { sendShippingNotice } from "../../support/client-example.ts";
import { newChat, newKey, newOrganization } from "../../support/harness.ts";

const [example] = Object.values(
  import.meta.glob<string>("../../support/client-example.ts", { query: "?raw", import: "default", eager: true }),
);

afterEach(() => vi.unstubAllGlobals());

test("the guide contains the client's example exactly as it is type-checked and run here", () => {
  const copied = example?.replace(/"[./]+src\/openapi\/client\/types\.ts"/, '"./parley.ts"');
  expect(guide).toContain(`\n\`\`\`ts\n${copied ?? "no file"}\`\`\`\n`);
});

test("the guide's client sends one message per order", async () => {
  vi.stubGlobal("fetch", (request: Request) => exports.default.fetch(request));
  const { organizationId, api, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  const { secret } = await newKey(organizationId);
  const send = (chatId: string, order: string) =>
    sendShippingNotice("https://parley.test/api/v1", secret, chatId, order);
  expect(await send(id, "4711")).toEqual({ status: "SENT", total: 1 });
  expect(await send(id, "4711")).toEqual({ status: "SENT", total: 1 });
  expect(await send(id, "4712")).toEqual({ status: "SENT", total: 2 });
  await expect(send("cht_1", "4711")).rejects.toThrow("chat_not_found");
});
