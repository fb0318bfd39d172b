import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { demoPath } from "../../../src/cli/demo-file.ts";
import { createDemo, findDemo } from "../../../src/cli/local/demo.ts";
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
