import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Place } from "./fixtures.ts";
import { newChat } from "./made.ts";

const PDF = "%PDF-1.4\n%%EOF\n";

/** Files that are sent, downloaded and exported. */
export function fileTests(placeOf: () => Place): void {
  test("a file is sent with a caption or without, once for a key, downloaded, and exported until it is redacted", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    const home = await place.newHome();
    const path = join(home, "invoice.pdf");
    await writeFile(path, PDF);
    type Sent = { message: { id: string } };
    const words = ["send", chatId, "Your invoice", "--file", path, "--idempotency-key", "k1"];
    const { message } = await place.json<Sent>(words, env);
    expect(message).toMatchObject({
      type: "DOCUMENT",
      text: "Your invoice",
      media: { contentType: "application/pdf", size: PDF.length, fileName: "invoice.pdf" },
    });
    expect((await place.json<Sent>(words, env)).message.id).toBe(message.id);
    const bare = await place.json<Sent>(["send", chatId, "--file", path], env);
    expect(bare.message).toMatchObject({ text: "invoice.pdf" });

    const loaded = await place.json(["media", chatId, message.id, "--out", join(home, "copy.pdf")], env);
    expect(loaded).toEqual({ path: join(home, "copy.pdf"), size: PDF.length });
    expect(await readFile(join(home, "copy.pdf"), "utf8")).toBe(PDF);

    await place.run(["redact", chatId, message.id, "--yes"]);
    const folder = join(home, "files");
    const exported = await place.run(["export", chatId, "--files", folder], env);
    expect(exported).toMatchObject({ code: 0, stderr: "" });
    expect(await readdir(join(folder, chatId))).toEqual([`${bare.message.id}-invoice.pdf`]);
  });

  test("a template takes a file and values by options, and what does not fit it names the option", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    const path = join(await place.newHome(), "invoice.pdf");
    await writeFile(path, PDF);
    const words = ["send", chatId, "Hi", "--template", "tpl_gAAAAAAAAAAAAAAA"];
    const early = await place.run([...words, "--file", "/nowhere", "--button", "4711"], env);
    expect([early.code, early.stderr]).toEqual([2, expect.stringContaining("--button must have the form")]);
    const wrong = await place.run(
      [...words, "--header-media", "http://a.example/a.jpg", "--button", "0=code:1\n2"],
      env,
    );
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringMatching(/--header-media: must be[\s\S]*--button \(0\.code\)/),
    ]);
    const unknown = await place.run([...words, "--file", path], env);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("template_not_found")]);
    const alone = await place.run(["send", chatId, "Hi", "--button", "0=url:1"], env);
    expect([alone.code, alone.stderr]).toEqual([1, expect.stringContaining("--template: can't be given without")]);
  });

  test("a file that the channel or the service refuses is told, and a send needs text or a file", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    const path = join(await place.newHome(), "picture.docx");
    await writeFile(path, "no ZIP file");
    const other = await place.run(["send", chatId, "--file", path], env);
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("media_type")]);
    await writeFile(path.replace("docx", "txt"), "Hello");
    const text = await place.run(["send", chatId, "--file", path.replace("docx", "txt"), "--type", "TEXT"], env);
    expect([text.code, text.stderr]).toEqual([1, expect.stringMatching(/The file is uploaded[\s\S]*--type: must be/)]);
    const none = await place.run(["send", chatId], env);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("needs text or --file")]);
    const without = await place.run(["media", chatId, "msg_g1"], env);
    expect(without.code).toBe(1);
  });
}
