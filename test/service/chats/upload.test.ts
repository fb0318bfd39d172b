import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { call, created, expectError, expectFaults, newChat, newKey, newOrganization } from "../../support/harness.ts";
import { jpeg } from "../../support/jpeg.ts";

const PNG = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC",
);

const text = (content: string) => new TextEncoder().encode(content);

async function newPlace() {
  const { api, channelId, organizationId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const { secret } = await newKey(organizationId);
  const upload = (
    body: BodyInit | null,
    headers: Record<string, string> = {},
    { query = "", authorization = `Bearer ${secret}` } = {},
  ) => {
    const length = body instanceof Uint8Array ? { "Content-Length": String(body.byteLength) } : {};
    return call("POST", `/api/v1/chats/${chat.id}/media${query}`, {
      headers: { Authorization: authorization, ...length, ...headers },
      body: body as never,
    });
  };
  const stored = async () => (await env.MEDIA.list({ prefix: `${chat.id}/` })).objects;
  return { api, chat, upload, stored, organizationId, secret };
}

test("a file is uploaded, sent, and downloaded as it was", async () => {
  const { api, chat, upload, secret } = await newPlace();
  const { status, body } = await upload(PNG, { "Content-Type": "image/png" }, { query: "?fileName=dot.png" });
  expect(status).toBe(201);
  expect(body.media).toEqual({
    id: expect.stringMatching(/^med_g\w{15}$/),
    contentType: "image/png",
    size: PNG.byteLength,
    fileName: "dot.png",
    width: 2,
    height: 3,
    expiresAt: expect.any(String),
  });
  const sent = await api("POST", `/chats/${chat.id}/messages`, { content: "Look", mediaId: body.media.id });
  expect(sent.status, sent.text).toBe(201);
  const { message } = sent.body;
  expect(message).toMatchObject({ type: "IMAGE", text: "Look", media: { width: 2, height: 3, fileName: "dot.png" } });
  const response = await fetchMedia(message.mediaUrl, secret);
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(PNG);
});

async function fetchMedia(url: string, secret: string): Promise<Response> {
  const { exports } = await import("cloudflare:workers");
  return exports.default.fetch(url, { headers: { Authorization: `Bearer ${secret}` } });
}

test.for<[name: string, bytes: Uint8Array, type: string, told: RegExp | string]>([
  ["a picture called a text", PNG, "text/plain", /image\/png/],
  ["HTML called a picture", text("<html><script>alert(1)</script>"), "image/png", /not of that type/],
  ["SVG called a picture", text("<svg xmlns='http://www.w3.org/2000/svg'/>"), "image/jpeg", /not of that type/],
  ["PDF called a picture", text("%PDF-1.7\n"), "image/png", /application\/pdf/],
  [
    "text called a video",
    text("just some words that are long enough to be looked at, and more of them"),
    "video/mp4",
    /not/,
  ],
  [
    "a form",
    text('--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nwords\r\n--b--\r\n'),
    "multipart/form-data; boundary=b",
    /multipart\/form-data\. Send the file itself/,
  ],
])("%s is a 415", async ([, bytes, type, told]) => {
  const { upload, stored } = await newPlace();
  const answer = await upload(bytes, { "Content-Type": type });
  expectError(answer, 415, "media_type", told as RegExp);
  expect(await stored()).toEqual([]);
});

test.for<[bytes: Uint8Array, declared: string, type: string]>([
  [PNG, "image/png; charset=binary", "image/png"],
  [PNG, "application/octet-stream", "image/png"],
  [text("a,b\n1,2\n"), "text/csv", "text/csv"],
  [text("words"), "application/octet-stream", "application/octet-stream"],
  [PNG, "application/x-www-form-urlencoded", "image/png"],
  [text("<html></html>"), "text/html", "text/html"],
  [Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0, 0]), "image/jpg", "image/jpeg"],
  [
    text("PK\u0003\u0004word/document.xml"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ],
])("%# is taken as what it is", async ([bytes, declared, type]) => {
  const { upload } = await newPlace();
  const { status, body, text: answer } = await upload(bytes, { "Content-Type": declared });
  expect(status, answer).toBe(201);
  expect(body.media.contentType).toBe(type);
});

test("a photo that lies on its side behind 300 KB of EXIF is measured as it is shown", async () => {
  const { upload } = await newPlace();
  const bytes = jpeg(6, 5);
  expect(bytes.length).toBeGreaterThan(300_000);
  const { media } = created(await upload(bytes, { "Content-Type": "image/jpeg" }));
  expect(media).toMatchObject({ contentType: "image/jpeg", size: bytes.length, width: 30, height: 40 });
});

test("HTML is a download, and can't run", async () => {
  const { api, chat, upload } = await newPlace();
  const { body } = await upload(text("<script>alert(1)</script>"), { "Content-Type": "text/html" });
  const sent = await api("POST", `/chats/${chat.id}/messages`, { content: body.media.id, mediaId: body.media.id });
  expect(sent.body.message).toMatchObject({ type: "DOCUMENT", text: "text/html" });
  const { headers } = await api("GET", `/chats/${chat.id}/messages/${sent.body.message.id}/media`);
  expect(headers.get("Content-Disposition")).toBe("attachment");
  expect(headers.get("Content-Security-Policy")).toBe("sandbox; default-src 'none'");
});

test("the length is judged before a byte is read", async () => {
  const { upload, stored } = await newPlace();
  const type = { "Content-Type": "text/plain" };
  const stream = () => new ReadableStream({ pull: () => expect.unreachable() });
  expectError(await upload(stream(), type), 411, "length_required");
  expectError(await upload(stream(), { ...type, "Content-Length": "16777217" }), 413, "body_too_large");
  expectFaults(await upload(new Uint8Array(), type), "");
  expect(await stored()).toEqual([]);
});

test("of a refused upload, a body that is too large is the request's fault, and all else the route's", async () => {
  const { upload } = await newPlace();
  const type = { "Content-Type": "text/plain" };
  const large = { ...type, "Content-Length": "16777217" };
  const answers = [await upload(new ReadableStream(), type), await upload(text("a"), large), await upload(PNG, type)];
  const shapes = answers.map(({ status, body }) => [status, Object.keys(body).sort()]);
  expect(shapes).toEqual([
    [411, ["code", "error"]],
    [413, ["code", "message"]],
    [415, ["code", "error"]],
  ]);
});

test.for(["gzip", "br"])(
  "a body with the Content-Encoding %s is a 415: a file is stored as it comes",
  async (encoding) => {
    const { upload, stored } = await newPlace();
    const answer = await upload(text("words"), { "Content-Type": "text/plain", "Content-Encoding": encoding });
    expectError(answer, 415, "media_type", /must not have a Content-Encoding/);
    expect(answer.headers.get("Accept-Encoding")).toBe("identity");
    expect(await stored()).toEqual([]);
  },
);

test("16 MiB are taken whole", async () => {
  const { upload, stored } = await newPlace();
  const bytes = new Uint8Array(16 * 1_024 * 1_024).fill(7);
  expect((await upload(bytes, { "Content-Type": "application/octet-stream" })).status).toBe(201);
  expect((await stored()).map(({ size }) => size)).toEqual([16 * 1_024 * 1_024]);
});

test.for(["a/b.png", "..", "a\\b.png", "a\u0000.png", "a\u202egnp.exe", "%20", "x".repeat(256)])(
  "the file name %j is refused",
  async (name) => {
    const { upload } = await newPlace();
    const query = `?fileName=${name === "%20" ? name : encodeURIComponent(name)}`;
    expectFaults(await upload(PNG, { "Content-Type": "image/png" }, { query }), "fileName");
  },
);

test.for(["?filename=a.png", "?fileName=a.png&fileName=b.png", "?fileName="])(
  "the query %s is a 400",
  async (query) => {
    const { upload, stored } = await newPlace();
    expectError(await upload(PNG, { "Content-Type": "image/png" }, { query }), 400, "validation_failed");
    expect(await stored()).toEqual([]);
  },
);

test("a key repeats an upload: one file, one object, one message; with another length it is a 422", async () => {
  const { api, chat, upload, stored } = await newPlace();
  const headers = { "Content-Type": "image/png", "Idempotency-Key": "invoice" };
  const first = await upload(PNG, headers);
  const again = await upload(PNG, headers);
  expect(again.body).toEqual(first.body);
  expect([first, again].map((each) => each.headers.get("Idempotent-Replayed"))).toEqual([null, "true"]);
  const send = () =>
    api(
      "POST",
      `/chats/${chat.id}/messages`,
      { content: "Look", mediaId: first.body.media.id },
      { "Idempotency-Key": "s" },
    );
  expect((await send()).body.message.id).toBe((await send()).body.message.id);
  expect((await upload(PNG, headers)).body).toEqual(first.body);
  expect(await stored()).toHaveLength(1);
  const longer = new Uint8Array(PNG.byteLength + 1);
  longer.set(PNG);
  expectError(await upload(longer, headers), 422, "idempotency_mismatch");
});

test("an R2 that fails is a 503, and the repeat works", async () => {
  const { upload, stored } = await newPlace();
  const headers = { "Content-Type": "image/png", "Idempotency-Key": "invoice" };
  const put = vi.spyOn(env.MEDIA, "put").mockRejectedValueOnce(new Error("R2 is away"));
  expectError(await upload(PNG, headers), 503, "unavailable");
  expect((await upload(PNG, headers)).status).toBe(201);
  expect(put).toHaveBeenCalledTimes(2);
  expect(await stored()).toHaveLength(1);
});

test("without a bucket uploads are a 503 when all bytes have come, and all else works", async () => {
  const { api, chat, upload } = await newPlace();
  const bucket = env.MEDIA;
  Object.assign(env, { MEDIA: undefined });
  let isRead = false;
  const chunks = [PNG, PNG, PNG];
  const body = new ReadableStream({
    pull(controller) {
      const chunk = chunks.pop();
      if (chunk) return controller.enqueue(chunk);
      isRead = true;
      controller.close();
    },
  });
  try {
    const headers = { "Content-Type": "image/png", "Content-Length": String(3 * PNG.byteLength) };
    expectError(await upload(body, headers), 503, "unavailable");
    expect(isRead).toBe(true);
    expect((await api("POST", `/chats/${chat.id}/messages`, { content: "text" })).status).toBe(201);
  } finally {
    Object.assign(env, { MEDIA: bucket });
  }
});

test.for<[body: Record<string, unknown>, path: string]>([
  [{ mediaUrl: "https://example.com/a.png" }, "mediaUrl"],
  [{ type: "TEXT" }, "type"],
  [{ templateId: "tpl_gaaaaaaaaaaaaaaa" }, "mediaId"],
  [{ location: { latitude: 1, longitude: 1 } }, "mediaId"],
  [{ mediaId: "" }, "mediaId"],
])("mediaId with %j is a 400", async ([more, path]) => {
  const { api, chat } = await newPlace();
  const body = { content: "Look", mediaId: "med_gaaaaaaaaaaaaaaa", ...more };
  expectFaults(await api("POST", `/chats/${chat.id}/messages`, body), path);
});

test("a file of another chat, and one that another message sends, are refused", async () => {
  const { api, chat, upload } = await newPlace();
  const other = await newPlace();
  const { id } = (await upload(PNG, { "Content-Type": "image/png" })).body.media;
  const send = (to: typeof other, mediaId: string) =>
    to.api("POST", `/chats/${to.chat.id}/messages`, { content: "Look", mediaId });
  expectError(await send(other, id), 404, "media_not_found");
  expect((await api("POST", `/chats/${chat.id}/messages`, { content: "Look", mediaId: id })).status).toBe(201);
  const again = await api("POST", `/chats/${chat.id}/messages`, { content: "Look", mediaId: id });
  expectError(again, 409, "media_used");
});
