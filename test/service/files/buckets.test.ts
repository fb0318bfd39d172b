import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { admin, created, expectError, newChannel, newChat, newOrganization } from "../../support/harness.ts";

const BUCKETS = ["MEDIA", "MEDIA_EU", "MEDIA_US"] as const;

/** An organization with a chat, uploads to it, and how many bytes of it each bucket has. */
async function place(settings: Record<string, unknown> = {}) {
  const { api, channelId, organizationId } = await newOrganization(settings);
  const chat = await newChat(api, channelId);
  const put = (chatId = chat.id) =>
    api("POST", `/chats/${chatId}/media`, "Hello", { "Content-Type": "text/plain", "Content-Length": "5" });
  const stored = async (chatId = chat.id) => {
    const found = await Promise.all(BUCKETS.map((name) => env[name].list({ prefix: `${chatId}/` })));
    return Object.fromEntries(BUCKETS.map((name, index) => [name, found[index]?.objects.length]));
  };
  return { api, channelId, organizationId, chat, put, stored };
}

test.each([
  ["eu", "MEDIA_EU"],
  ["us", "MEDIA_US"],
] as const)(
  "the files of an organization in the jurisdiction %s are in %s alone, or nowhere",
  async (jurisdiction, name) => {
    const { api, chat, put, stored } = await place({ jurisdiction });
    const { media } = created(await put());
    expect(media.id).toMatch(new RegExp(`^med_${jurisdiction[0]}`));
    const one = { MEDIA: 0, MEDIA_EU: 0, MEDIA_US: 0, [name]: 1 };
    expect(await stored()).toEqual(one);
    const { message } = created(
      await api("POST", `/chats/${chat.id}/messages`, { content: "Look", mediaId: media.id }),
    );
    expect((await api("GET", `/chats/${chat.id}/messages/${message.id}/media`)).text).toBe("Hello");
    const bucket = env[name];
    Object.assign(env, { [name]: undefined });
    try {
      expectError(await put(), 503, "unavailable");
    } finally {
      Object.assign(env, { [name]: bucket });
    }
    expect(await stored()).toEqual(one);
    expect((await admin("POST", `/chats/${chat.id}/messages/${message.id}/redact`)).status).toBe(200);
    expect(await stored()).toEqual({ ...one, [name]: 0 });
  },
);

test("a deleted channel and a deleted organization leave no bytes, used or not, and others keep theirs", async () => {
  const { api, channelId, organizationId, chat, put, stored } = await place();
  const other = await newChat(api, await newChannel(organizationId, "telegram"), "4711");
  for (const { id } of [chat, other]) {
    const { media } = created(await put(id));
    created(await api("POST", `/chats/${id}/messages`, { content: "Look", mediaId: media.id }));
    created(await put(id));
  }
  expect((await admin("DELETE", `/channels/${channelId}`)).status).toBe(200);
  expect([await stored(), await stored(other.id)]).toMatchObject([{ MEDIA: 0 }, { MEDIA: 2 }]);
  expect((await admin("DELETE", `/organizations/${organizationId}`)).status).toBe(200);
  expect(await stored(other.id)).toMatchObject({ MEDIA: 0 });
});

test.each(["list", "delete", "no bucket"] as const)(
  "while R2 is away (%s) the deletion of a chat, a channel and an organization with files is a 503, and its repeat works",
  async (fault) => {
    const { api, channelId, organizationId, chat, put, stored } = await place();
    const second = await newChat(api, channelId);
    const last = await newChat(api, await newChannel(organizationId, "telegram"), "4711");
    for (const { id } of [chat, second, last]) created(await put(id));
    const bucket = env.MEDIA;
    const away = () => Promise.reject(new Error("R2 is away"));
    const broken = fault === "no bucket" ? undefined : { ...bucket, list: bucket.list.bind(bucket), [fault]: away };
    const paths = [`/chats/${chat.id}`, `/channels/${channelId}`, `/organizations/${organizationId}`];
    for (const path of paths) {
      Object.assign(env, { MEDIA: broken });
      const answer = await admin("DELETE", path).finally(() => Object.assign(env, { MEDIA: bucket }));
      expectError(answer, 503, "unavailable");
      expect(answer.headers.get("Retry-After")).toBe("1");
      expect((await stored(last.id)).MEDIA).toBe(1);
      expect((await admin("DELETE", path)).status).toBe(200);
    }
    expect([(await stored()).MEDIA, (await stored(last.id)).MEDIA]).toEqual([0, 0]);
  },
);
