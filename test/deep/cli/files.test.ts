import { mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { safeFileName } from "../../../src/cli/parley/file-name.ts";
import { readUpload } from "../../../src/cli/parley/upload.ts";
import { serve } from "../../cli/fake-service.ts";
import { run } from "./command.ts";

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-files-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test.for([
  ["invoice.pdf", "invoice.pdf"],
  ["Übersicht 2026 ✓.pdf", "Übersicht 2026 ✓.pdf"],
  ["../../.ssh/authorized_keys", "_.._.ssh_authorized_keys"],
  ["..\\..\\evil.exe", "_.._evil.exe"],
  ["/etc/passwd", "_etc_passwd"],
  [".bashrc", "bashrc"],
  ["-rf", "rf"],
  ["a\u0000b\u001b[31m\ufffd.txt", "a_b_[31m_.txt"],
  ["photo\u202egpj.exe", "photo_gpj.exe"],
  ["con.txt", "_con.txt"],
  ["a:b?.txt ", "a_b_.txt"],
  ["..", "msg_g1.pdf"],
  ["", "msg_g1.pdf"],
  [null, "msg_g1.pdf"],
] as const)("a file that its sender calls %j is written as %j", ([name, safe]) => {
  expect(safeFileName(name, "msg_g1", "application/pdf; charset=x")).toBe(safe);
});

test("a long name keeps its extension, and no half of a character", () => {
  const safe = safeFileName(`${"👩‍👩‍👧".repeat(40)}.jpeg`, "msg_g1", null);
  expect(safe).toMatch(/^(?:👩‍👩‍👧)+\.jpeg$/u);
  expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(200);
});

test("a file of 16 MiB is read, with a type where its bytes don't tell", async () => {
  const folder = await newFolder();
  const path = join(folder, "Table.CSV");
  await writeFile(path, "x");
  await truncate(path, 16 * 1_024 * 1_024);
  const { bytes, ...file } = await readUpload(path);
  expect(file).toEqual({ name: "Table.CSV", contentType: "text/csv" });
  expect(bytes.byteLength).toBe(16 * 1_024 * 1_024);
});

test.for([
  ["none.pdf", "does not exist"],
  [".", "is a folder"],
  ["empty.txt", "is empty"],
  ["large.bin", "more than 16 MiB"],
  ["a\nb.txt", "control characters"],
  ["a\u202eb.txt", "control characters"],
  ["loop", "can't be read: ELOOP"],
  ["/dev/null", "is not a file"],
] as const)("%j is not sent: it %s", async ([name, why]) => {
  const folder = await newFolder();
  await writeFile(join(folder, "empty.txt"), "");
  await writeFile(join(folder, "large.bin"), "");
  await truncate(join(folder, "large.bin"), 16 * 1_024 * 1_024 + 1);
  await symlink("loop", join(folder, "loop"));
  const path = name.startsWith("/") ? name : join(folder, name);
  await expect(readUpload(path)).rejects.toMatchObject({ message: expect.stringContaining(why), exitCode: 1 });
});

/** A service whose file is cut after some bytes of each answer, and comes whole or in part. */
async function cutService(hasRanges: boolean) {
  const file = Buffer.from(Array.from({ length: 50_000 }, (_, at) => at % 251));
  const ranges: (string | undefined)[] = [];
  const { url } = await serve((request, response) => {
    ranges.push(request.headers.range);
    const from = hasRanges ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
    const rest = file.subarray(from);
    const disposition = "attachment; filename*=UTF-8''..%2Fa%20b.bin";
    response.writeHead(from > 0 ? 206 : 200, {
      "Content-Length": rest.length,
      "Content-Disposition": disposition,
      ...(hasRanges && { ETag: '"med_1"', "Content-Range": `bytes ${from}-${file.length - 1}/${file.length}` }),
    });
    const part = hasRanges ? 20_000 : 20_000 * ranges.length;
    if (rest.length <= part) response.end(rest);
    else response.write(rest.subarray(0, part), () => response.destroy());
  });
  return { url, file, ranges };
}

test.for([
  ["continues where it was cut", true],
  ["is read again if it can't be read in part", false],
] as const)("a download %s", async ([, hasRanges]) => {
  const { url, file, ranges } = await cutService(hasRanges);
  const folder = await newFolder();
  const words = ["media", "cht_g1", "msg_g1", "--out", folder];
  const first = await run(words, { PARLEY_URL: url });
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(await readdir(folder)).toEqual(["_a b.bin"]);
  expect(file.equals(await readFile(join(folder, "_a b.bin")))).toBe(true);
  // How much of an answer arrives before it is cut differs.
  expect(ranges[0]).toBeUndefined();
  if (hasRanges) expect(ranges.filter((range) => /^bytes=[1-9]\d*-$/.test(range ?? "")).length).toBeGreaterThan(1);
  else expect(ranges).toHaveLength(3);
  const again = await run(words, { PARLEY_URL: url });
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("--force")]);
  expect(await readdir(folder)).toEqual(["_a b.bin"]);
});

test("a download goes to standard output, and a file that is cut every time leaves nothing", async () => {
  const whole = await serve((_request, response) => void response.end("Hello"));
  const piped = await run(["media", "cht_g1", "msg_g1", "--out", "-"], { PARLEY_URL: whole.url });
  expect(piped).toEqual({ code: 0, stdout: "Hello", stderr: "" });
  const folder = await newFolder();
  const path = join(folder, "a.txt");
  await writeFile(path, "old");
  const forced = await run(["media", "cht_g1", "msg_g1", "--out", path, "--force"], { PARLEY_URL: whole.url });
  expect([forced.code, await readFile(path, "utf8")]).toEqual([0, "Hello"]);
  const gone = await serve((_request, response) => {
    response.writeHead(404, { "Content-Type": "application/json" });
    response.end('{"error":"Media expired","code":"media_expired"}');
  });
  const refused = await run(["media", "cht_g1", "msg_g1", "--out", join(folder, "b")], { PARLEY_URL: gone.url });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("media_expired")]);
  expect(await readdir(folder)).toEqual(["a.txt"]);
});

const messageLine = (url: string, id: string, media: object) =>
  JSON.stringify({
    type: "message",
    message: { id, chatId: "cht_g1", mediaUrl: `${url}/api/v1/chats/cht_g1/messages/${id}/media`, media },
  });

test("an export downloads each file once, notes those that are gone, and ends with 1 for those that fail", async () => {
  const asked: string[] = [];
  const answers: Record<string, (response: ServerResponse) => void> = {
    msg_1: (response) => void response.end("Hello"),
    msg_2: (response) => {
      response.writeHead(404, { "Content-Type": "application/json" });
      response.end('{"error":"Media not found","code":"media_not_found"}');
    },
    msg_3: (response) => void response.end("Shorter"),
    msg_4: (response) => void response.end("of a network"),
  };
  const { url } = await serve((request, response) => {
    const [, id = ""] = /messages\/(\w+)\/media$/.exec(request.url ?? "") ?? [];
    if (id) {
      asked.push(id);
      answers[id]?.(response);
      return;
    }
    const own = JSON.stringify({
      type: "message",
      message: { id: "msg_5", chatId: "cht_g1", mediaUrl: "https://shop.example/a.png" },
    });
    const lines = [
      messageLine(url, "msg_1", { contentType: "text/plain", size: 5, fileName: "../x.txt" }),
      messageLine(url, "msg_2", { contentType: "text/plain", size: 5, fileName: null }),
      messageLine(url, "msg_3", { contentType: "text/plain", size: 8, fileName: "a" }),
      messageLine(url, "msg_4", { contentType: "image/jpeg" }),
      own,
      '{"type":"end","lastSeq":5,"next":null}',
    ];
    response.end(lines.map((line) => `${line}\n`).join(""));
  });
  const folder = await newFolder();
  const words = ["export", "cht_g1", "--files", join(folder, "files")];
  const first = await run(words, { PARLEY_URL: url });
  expect(first.code).toBe(1);
  expect(first.stdout.trimEnd().split("\n")).toHaveLength(6);
  expect(first.stderr).toContain("cht_g1 msg_2 is gone (media_not_found)");
  expect(first.stderr).toContain("7 bytes, but its message says 8");
  expect(first.stderr).toContain("1 files are missing");
  expect((await readdir(join(folder, "files", "cht_g1"))).sort()).toEqual(["msg_1-_x.txt", "msg_4-file.jpg"]);
  expect(await readFile(join(folder, "files", "cht_g1", "msg_1-_x.txt"), "utf8")).toBe("Hello");
  answers.msg_3 = (response) => void response.end("12345678");
  const second = await run(words, { PARLEY_URL: url });
  expect(second.code).toBe(0);
  expect(asked).toEqual(["msg_1", "msg_2", "msg_3", "msg_4", "msg_2", "msg_3"]);
});
