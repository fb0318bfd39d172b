import { expect, test } from "vitest";
import { frameOf, multipartForm } from "../../../../src/channels/network/multipart.ts";
import { until } from "../../../support/until.ts";

const FILE = { field: "document", fileName: "plan.pdf", contentType: "application/pdf" };

/** A source of `count` chunks of 1,000 bytes that counts what is read, and knows whether it was let go. */
function chunks(count: number) {
  const seen = { pulled: 0, isCanceled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (seen.pulled === count) return controller.close();
        controller.enqueue(new Uint8Array(1_000).fill(++seen.pulled));
      },
      cancel() {
        seen.isCanceled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { seen, source: { body, size: count * 1_000 } };
}

/** The form as a server parses it. */
async function parsed({ body, contentType }: { body: BodyInit; contentType: string }) {
  const form = await new Response(body, { headers: { "Content-Type": contentType } }).formData();
  return Object.fromEntries(form);
}

test("a form has its fields as they are, and the file with its name, type and bytes", async () => {
  const { source } = chunks(3);
  const form = multipartForm({ chat_id: "42", caption: 'Two\nlines, "quoted"; ü' }, FILE, source);
  const { document, ...fields } = await parsed(form);
  expect(fields).toEqual({ chat_id: "42", caption: 'Two\nlines, "quoted"; ü' });
  const file = document as unknown as File;
  expect([file.name, file.type, file.size]).toEqual(["plan.pdf", "application/pdf", 3_000]);
  expect(new Set(await file.bytes())).toEqual(new Set([1, 2, 3]));
  expect(form.isComplete()).toBe(true);
});

test.each([
  ["Übersicht – 計画 🗂.pdf", "Übersicht – 計画 🗂.pdf"],
  ['a "b"; c.pdf', "a 'b', c.pdf"],
  ["a\r\nContent-Type: text/html\r\n\r\nb.pdf", "a__Content-Type: text/html____b.pdf"],
  ["back\\slash\u0000.pdf", "back_slash_.pdf"],
  ["half\ud83d.pdf", "half\ufffd.pdf"],
  [null, "file.pdf"],
])("every server reads the name %j alike", async (fileName, name) => {
  const { source } = chunks(1);
  const { document } = await parsed(multipartForm({}, { ...FILE, fileName }, source));
  expect((document as unknown as File).name).toBe(name);
});

test("the length is known before the file is read", async () => {
  const { head, tail } = frameOf("b", { a: "1" }, FILE);
  const text = new TextDecoder().decode(head);
  expect(text).toBe(
    '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n' +
      '--b\r\nContent-Disposition: form-data; name="document"; filename="plan.pdf"\r\n' +
      "Content-Type: application/pdf\r\n\r\n",
  );
  expect(new TextDecoder().decode(tail)).toBe("\r\n--b--\r\n");
});

test("a reader that is slow holds the file back: only a few chunks are in memory", async () => {
  const { seen, source } = chunks(1_000);
  const form = multipartForm({}, FILE, source);
  const reader = form.body.getReader();
  for (let reads = 1; reads <= 20; reads++) await reader.read();
  expect(seen.pulled).toBeGreaterThan(0);
  expect(seen.pulled).toBeLessThan(25);
  expect(form.isComplete()).toBe(false);
  await reader.cancel();
});

test("a file that ends in an error breaks the form, which is never complete", async () => {
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("R2 is away")) });
  const form = multipartForm({}, FILE, { body, size: 1_000 });
  await expect(new Response(form.body).bytes()).rejects.toThrow();
  expect(form.isComplete()).toBe(false);
});

test.each(["never read", "read a little"])("a form that is closed lets its file go: %s", async (how) => {
  const { seen, source } = chunks(100);
  const form = multipartForm({}, FILE, source);
  if (how === "read a little") {
    const reader = form.body.getReader();
    await reader.read();
    await reader.read();
    reader.releaseLock();
  }
  form.close();
  await until("the file is canceled", () => seen.isCanceled);
});
