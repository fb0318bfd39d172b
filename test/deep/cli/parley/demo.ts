import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { demoPath } from "../../../../src/cli/demo-file.ts";
import { createDemo, findDemo } from "../../../../src/cli/local/demo.ts";
import type { Place } from "./fixtures.ts";

/** The demo organization of `npm start`, from one start to the next. */
export function demoTests(placeOf: () => Place): void {
  const newDemo = async () => {
    const place = placeOf();
    const state = await place.newHome();
    const demo = await createDemo(place.url(), state, place.secrets.ADMIN_TOKEN);
    return { place, state, demo, kept: () => findDemo(place.url(), state) };
  };

  test("a demo is kept from one start to the next", async () => {
    const { demo, kept } = await newDemo();
    expect(await kept()).toEqual({ demo });
  });

  test("a demo has a picture from a visitor and a document to the visitor, whose bytes are there", async () => {
    const { place, demo } = await newDemo();
    const ask = async (path: string) =>
      fetch(`${place.url()}/api/v1${path}`, { headers: { Authorization: `Bearer ${demo.key}` } });
    const { chats } = (await (await ask("/chats?contact=demo-ana")).json()) as { chats: { id: string }[] };
    const listed = await ask(`/chats/${chats[0]?.id}/messages`);
    type Listed = { id: string; direction: string; type: string; chatId: string; media?: { size: number } };
    const { messages } = (await listed.json()) as { messages: Listed[] };
    const files = messages.filter(({ media }) => media);
    expect(files).toMatchObject([
      { direction: "OUTBOUND", media: { contentType: "application/pdf", fileName: "offer-4711.pdf" } },
      { direction: "INBOUND", type: "IMAGE", media: { contentType: "image/png", width: 480, height: 360 } },
    ]);
    for (const { chatId, id, media } of files) {
      const bytes = await (await ask(`/chats/${chatId}/messages/${id}/media`)).arrayBuffer();
      expect(bytes.byteLength).toBe(media?.size);
    }
  });

  test("a demo has two members, an order of one's, and a note on it that mentions the other", async () => {
    const { place, demo } = await newDemo();
    const get = async (path: string) => {
      const headers = { Authorization: `Bearer ${demo.key}` };
      return (await fetch(`${place.url()}/api/v1${path}`, { headers })).json() as Promise<Record<string, object[]>>;
    };
    const { members = [] } = await get("/members");
    const [owner, colleague] = members as { id: string; name: string }[];
    expect(members).toMatchObject([{ name: "Demo owner" }, { name: "Demo colleague" }]);
    const { chats = [] } = await get(`/chats?assignee=${colleague?.id}`);
    expect(chats).toMatchObject([{ contact: { name: "Demo customer" } }]);
    const [chat] = chats as { id: string }[];
    const { notes } = await get(`/chats/${chat?.id}/notes`);
    expect(notes).toMatchObject([{ content: expect.stringContaining("@Demo owner"), mentions: [owner?.id] }]);
  });

  test("a demo with a damaged file is replaced", async () => {
    const { state, kept } = await newDemo();
    await writeFile(demoPath(state), "{");
    expect(await kept()).toEqual({ demo: null, whyNot: "its file is damaged" });
  });

  test("a demo with a revoked key is replaced", async () => {
    const { place, demo, kept } = await newDemo();
    await place.delete(`/keys/key_${demo.key.slice("ply_".length, "ply_".length + 16)}`);
    expect(await kept()).toMatchObject({
      demo: null,
      whyNot: expect.stringMatching(/^its key is refused .*KEY_SECRET/),
    });
  });

  test("a demo with a deleted chat is replaced", async () => {
    const { place, demo, kept } = await newDemo();
    await place.delete(`/chats/${demo.chatId}`);
    expect(await kept()).toEqual({ demo: null, whyNot: "its chat was deleted" });
  });
}
