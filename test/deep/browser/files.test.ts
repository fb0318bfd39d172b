import { createHash, randomFillSync } from "node:crypto";
import { request } from "node:http";
import type { BrowserContext } from "playwright-core";
import { expect, test } from "vitest";
import { type Desk, openConsole, openDesk, screenOf } from "../../browser/console.ts";
import { browser } from "../../browser/file-browser.ts";
import { base } from "../../browser/running-server.ts";
import { createKey } from "../../support/world/factories.ts";

/** A chat, and calls with a key that may send files to it. */
async function openChat(desk: Desk) {
  const { id } = await desk.chat("Maya");
  const { secret } = await createKey(desk.organization);
  const headers = { Authorization: `Bearer ${secret}` };
  const path = `/api/v1/chats/${id}/media`;
  return {
    headers,
    path,
    upload: async (bytes: Uint8Array<ArrayBuffer>, contentType: string, fileName: string): Promise<string> => {
      const sent = { ...headers, "Content-Type": contentType };
      const url = `${base}${path}?fileName=${encodeURIComponent(fileName)}`;
      const response = await fetch(url, { method: "POST", headers: sent, body: bytes });
      const text = await response.text();
      expect(response.status, text).toBe(201);
      return JSON.parse(text).media.id;
    },
    /** Sends a file. Returns the address of its bytes. */
    show: async (mediaId: string): Promise<string> => {
      const { message } = await desk.api("POST", `/chats/${id}/messages`, { content: mediaId, mediaId });
      return message.mediaUrl;
    },
  };
}

const CANARY = "/canary-of-a-file";
const SCRIPT = `fetch("${CANARY}?"+document.cookie);document.title="it ran";alert(1)`;
const HTML = `<!doctype html><html><body><script>${SCRIPT}</script><img src=x onerror='${SCRIPT}'></body></html>`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload='${SCRIPT}'><script>${SCRIPT}</script></svg>`;
const PDF = `%PDF-1.7\n1 0 obj<</Type/Catalog/OpenAction<</S/JavaScript/JS(app.alert\\(1\\))>>>>endobj\ntrailer<</Root 1 0 R>>\n${HTML}`;

type Opened = [name: string, content: string, type: string, fileName: string, kind: "attachment" | "inline"];

const HOSTILE: Opened[] = [
  ["HTML", HTML, "text/html", "page.html", "attachment"],
  ["XHTML", HTML, "application/xhtml+xml", "page.xhtml", "attachment"],
  ["SVG", SVG, "image/svg+xml", "drawing.svg", "attachment"],
  ["SVG that is called XML", SVG, "text/xml", "drawing.svg", "attachment"],
  ["SVG that is named like a picture", SVG, "application/octet-stream", "drawing.png", "attachment"],
  ["a PDF with a script", PDF, "application/pdf", "invoice.pdf", "attachment"],
  ["a script", SCRIPT, "text/javascript", "code.js", "attachment"],
  ["HTML in an archive", `PK\u0003\u0004${HTML}`, "application/zip", "archive.html", "attachment"],
  ["a PNG that is HTML", `\u0089PNG\r\n\u001a\n${HTML}`, "image/png", "picture.html", "inline"],
  ["a GIF that is a script", `GIF89a/*${HTML}*/=1;${SCRIPT}`, "image/gif", "picture.js", "inline"],
  ["a JPEG that is HTML", `\u00ff\u00d8\u00ff\u00e0${HTML}`, "image/jpeg", "picture.svg", "inline"],
];

/** Opens a file as a person would who follows its link. Nothing of it may run. */
async function expectStill(context: BrowserContext, url: string, [, , , fileName, kind]: Opened): Promise<void> {
  const ran: string[] = [];
  context.on("request", (asked) => asked.url().includes(CANARY) && ran.push(asked.url()));
  context.on("dialog", (dialog) => {
    ran.push(dialog.message());
    void dialog.dismiss();
  });
  const opened = await context.newPage();
  const download = opened
    .waitForEvent("download", { timeout: kind === "attachment" ? 60_000 : 20_000 })
    .catch(() => null);
  const arrived = await opened.goto(url).catch(() => null);
  if (kind === "attachment") {
    expect((await download)?.suggestedFilename()).toBe(fileName);
    expect(arrived).toBeNull();
  } else {
    expect(arrived?.status()).toBe(200);
    // The document that shows the picture is of no origin, so it sees neither cookies nor the console.
    const seen = await opened.evaluate(() => [self.origin, document.querySelectorAll("script").length, window.opener]);
    expect(seen).toEqual(["null", 0, null]);
  }
  expect(await opened.title()).not.toBe("it ran");
  expect(ran).toEqual([]);
}

function expectSafe(headers: Headers, [, , , fileName, kind]: Opened): void {
  expect(headers.get("Content-Disposition")).toBe(`${kind}; filename*=UTF-8''${fileName}`);
  expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(headers.get("Content-Security-Policy")).toBe("sandbox; default-src 'none'");
}

test.for(HOSTILE)("%s that is opened in the browser of a person with a session runs nothing", async (file) => {
  const [, content, type, fileName] = file;
  const desk = await openDesk();
  const { headers, upload, show } = await openChat(desk);
  const url = await show(await upload(new Uint8Array(Buffer.from(content, "latin1")), type, fileName));
  const answer = await fetch(url, { headers });
  expect(Buffer.from(await answer.arrayBuffer()).toString("latin1")).toBe(content);
  expectSafe(answer.headers, file);
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  const context = page.context();
  await context.setExtraHTTPHeaders(headers);
  await expectStill(context, url, file);
  await context.close();
});

test.for(HOSTILE)("%s that is opened by a visitor's link runs nothing", async (file) => {
  const [, content, type, fileName] = file;
  const { id: channelId } = (await openDesk()).channel;
  const { page, upload, send, linkOf } = await visitorOf(channelId);
  const { id } = await upload(Buffer.from(content, "latin1"), type, fileName);
  await send(id);
  const url = await linkOf();
  const answer = await fetch(url);
  expect(Buffer.from(await answer.arrayBuffer()).toString("latin1")).toBe(content);
  expectSafe(answer.headers, file);
  await expectStill(page.context(), url, file);
  await page.context().close();
});

test("the console shows a picture in a box of its size, and a download where there is none", async () => {
  const desk = await openDesk();
  const { path, upload, show } = await openChat(desk);
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC",
    "base64",
  );
  await show(await upload(new Uint8Array(png), "image/png", "dot.png"));
  await show(await upload(new TextEncoder().encode("words"), "text/plain", "words.txt"));
  // Its sides, and nothing more.
  await show(await upload(new Uint8Array(png.subarray(0, 24)), "image/png", "broken.png"));
  await show(await upload(new Uint8Array(png.subarray(0, 20)), "image/png", "without-sides.png"));
  const chatId = path.split("/")[4];
  const page = await openConsole(browser, screenOf(desk, `inbox/${chatId}`));
  const picture = page.getByRole("button", { name: /^Open image: Picture from / }).locator("img");
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalHeight)).toBe(3);
  expect(await picture.evaluate((image) => image.style.aspectRatio)).toBe("2 / 3");
  await page.getByRole("link", { name: /^words\.txt/ }).waitFor();
  await page.getByRole("link", { name: "This picture can’t be shown." }).waitFor();
  await page.getByRole("link", { name: /^without-sides\.png/ }).waitFor();
  await page.context().close();
});

const TEN_MIB = 10 * 1_024 * 1_024;

test("10 MiB that are cut in the middle are uploaded by the repeat, once, and come down as they were", async () => {
  const desk = await openDesk();
  const { headers, path, show } = await openChat(desk);
  const bytes = randomFillSync(new Uint8Array(TEN_MIB));
  const sha256 = (part: Uint8Array) => createHash("sha256").update(part).digest("hex");
  const asked = { ...headers, "Content-Type": "application/octet-stream", "Idempotency-Key": "photo" };
  const cut = request(`${base}${path}`, {
    method: "POST",
    agent: false,
    headers: { ...asked, "Content-Length": String(TEN_MIB) },
  });
  const closed = new Promise((resolve) => cut.on("error", () => {}).on("close", resolve));
  cut.write(bytes.subarray(0, TEN_MIB / 2), () => cut.destroy());
  await closed;
  const upload = async () => {
    const response = await fetch(`${base}${path}`, { method: "POST", headers: asked, body: bytes });
    const text = await response.text();
    expect(response.status, text).toBe(201);
    return JSON.parse(text).media;
  };
  const media = await upload();
  expect(media.size).toBe(TEN_MIB);
  const url = await show(media.id);
  const get = async (range?: string) => {
    const response = await fetch(url, { headers: { ...headers, ...(range && { Range: range }) } });
    expect(response.status).toBe(range ? 206 : 200);
    return new Uint8Array(await response.arrayBuffer());
  };
  expect(sha256(await get())).toBe(sha256(bytes));
  const parts = [await get("bytes=0-4999999"), await get("bytes=5000000-9999999"), await get("bytes=10000000-")];
  expect(sha256(Buffer.concat(parts))).toBe(sha256(bytes));
});

/** A visitor's page, whose own script uploads and writes. */
async function visitorOf(channelId: string) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${base}/web/${channelId}`);
  const token = crypto.randomUUID();
  const path = `/web/${channelId}`;
  return {
    page,
    token,
    /** Uploads bytes. */
    upload: async (bytes: Uint8Array, type: string, fileName: string): Promise<{ id: string; size: number }> => {
      const given = { path, token, type, fileName, bytes: Buffer.from(bytes).toString("base64") };
      return page.evaluate(async (file) => {
        const response = await fetch(`${file.path}/media?fileName=${encodeURIComponent(file.fileName)}`, {
          method: "POST",
          headers: { Authorization: `Bearer token.${file.token}`, "Content-Type": file.type, "Idempotency-Key": "one" },
          body: Uint8Array.from(atob(file.bytes), (char) => char.charCodeAt(0)),
        });
        if (response.status !== 201) throw new Error(await response.text());
        return (await response.json()).media;
      }, given);
    },
    /** Begins the same upload, and breaks it off in the middle. Returns how many bytes were sent. */
    breakOff: async (bytes: Uint8Array): Promise<number> => {
      const network = await context.newCDPSession(page);
      const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 100_000 };
      await network.send("Network.enable");
      await network.send("Network.emulateNetworkConditions", slow);
      const given = { path, token, bytes: Buffer.from(bytes).toString("base64") };
      const sent = await page.evaluate(
        (file) =>
          new Promise<number>((resolve, reject) => {
            const body = Uint8Array.from(atob(file.bytes), (char) => char.charCodeAt(0));
            const asked = new XMLHttpRequest();
            asked.upload.addEventListener("progress", ({ loaded }) => {
              if (loaded === 0) return;
              asked.abort();
              resolve(loaded);
            });
            asked.addEventListener("load", () => reject(new Error("It came whole")));
            asked.open("POST", `${file.path}/media`);
            asked.setRequestHeader("Authorization", `Bearer token.${file.token}`);
            asked.setRequestHeader("Content-Type", "application/octet-stream");
            asked.setRequestHeader("Idempotency-Key", "one");
            asked.send(body);
          }),
        given,
      );
      await network.send("Network.emulateNetworkConditions", { ...slow, uploadThroughput: -1 });
      return sent;
    },
    /** Sends a file. */
    send: (mediaId: string): Promise<void> =>
      page.evaluate(
        (message) =>
          new Promise<void>((resolve) => {
            const address = `${location.origin.replace("http", "ws")}${message.path}/socket`;
            const socket = new WebSocket(address, ["parley.v1", `token.${message.token}`]);
            socket.addEventListener("message", ({ data }) => {
              const { type } = JSON.parse(data);
              if (type === "stored") resolve();
              if (type !== "ready") return;
              socket.send(
                JSON.stringify({ type: "message", id: "a", content: message.mediaId, mediaId: message.mediaId }),
              );
            });
          }),
        { path, token, mediaId },
      ),
    /** The link to the file of the first message, as the page gets it. */
    linkOf: (): Promise<string> =>
      page.evaluate(
        (at) =>
          new Promise<string>((resolve) => {
            const address = `${location.origin.replace("http", "ws")}${at.path}/socket`;
            const socket = new WebSocket(address, ["parley.v1", `token.${at.token}`]);
            socket.addEventListener("message", ({ data }) => resolve(JSON.parse(data).messages[0].mediaUrl));
          }),
        { path, token },
      ),
  };
}

test("a visitor's 10 MiB that are cut in the middle are uploaded by the repeat, once, and come down as they were", async () => {
  const { id: channelId } = (await openDesk()).channel;
  const { page, upload, breakOff, send, linkOf } = await visitorOf(channelId);
  const bytes = randomFillSync(new Uint8Array(TEN_MIB));
  const sent = await breakOff(bytes);
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThan(TEN_MIB);
  const media = await upload(bytes, "application/octet-stream", "photo.bin");
  expect(media.size).toBe(TEN_MIB);
  // The answer may be lost too.
  expect((await upload(bytes, "application/octet-stream", "photo.bin")).id).toBe(media.id);
  await send(media.id);
  const url = await linkOf();
  const digest = await page.evaluate(async (link) => {
    const response = await fetch(link);
    const hash = await crypto.subtle.digest("SHA-256", await response.arrayBuffer());
    return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }, url);
  expect(digest).toBe(createHash("sha256").update(bytes).digest("hex"));
  await page.context().close();
});
