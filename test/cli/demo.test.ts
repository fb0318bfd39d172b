import { expect, test } from "vitest";
import { type Demo, readDemo } from "../../src/cli/demo-file.ts";
import { createDemo, curlLines } from "../../src/cli/local/demo.ts";
import { fakeService } from "./fake-service.ts";

const demo: Demo = {
  organizationId: "org_g1",
  channelId: "chn_g2",
  chatId: "cht_g3",
  key: "ply_4",
  visitorHash: "a".repeat(64),
};

test("a demo is read back from its file", () => {
  expect(readDemo(JSON.stringify(demo))).toEqual(demo);
});

test.for([
  "",
  "{",
  "null",
  "[]",
  "{}",
  JSON.stringify({ ...demo, key: undefined }),
  JSON.stringify({ ...demo, chatId: 3 }),
  JSON.stringify({ ...demo, chatId: "cht_'; rm -rf ~; '" }),
  JSON.stringify({ ...demo, key: "ply_4\n" }),
])("a damaged file is no demo: %s", (text) => {
  expect(readDemo(text)).toBeNull();
});

test("the curl lines are quoted for a shell", () => {
  expect(curlLines("http://localhost:8787", demo)).toEqual({
    send: `curl 'http://localhost:8787/api/v1/chats/cht_g3/messages' -H 'Authorization: Bearer ply_4' -d '{"content":"Hello from Parley"}'`,
    list: "curl 'http://localhost:8787/api/v1/chats/cht_g3/messages' -H 'Authorization: Bearer ply_4'",
  });
});

test("the demo's webhook is disabled before a chat exists, so that it calls nothing", async () => {
  const ids = { organization: { id: "org_1" }, member: { id: "mem_1" }, channel: { id: "chn_1" } };
  const settings = { template: { id: "tpl_1" }, webhook: { id: "whk_1" } };
  // The answer has no chat: the demo ends at the first one.
  const { url, asked } = await fakeService({ ...ids, ...settings, identitySecret: "secret" });
  await expect(createDemo(url, "unused", "token")).rejects.toThrow("/chats answered 200");
  expect(asked.map(({ path }) => path)).toContain("/admin/v1/webhooks/whk_1/disable");
});
