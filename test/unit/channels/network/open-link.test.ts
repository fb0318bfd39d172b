import { expect, test } from "vitest";
import { openLink } from "../../../../src/channels/network/open-link.ts";
import { MAX_FILE_BYTES } from "../../../../src/model/file.ts";
import { connectionLost, fakeNetwork, type Reply } from "../fake-network.ts";

const LINK = "https://files.example/a%20plan.pdf?x=1";
const BYTES = new Uint8Array([1, 2, 3]);

const open = (link = LINK, signal = new AbortController().signal) => openLink(link, ["parley.example"], signal);

function file(headers: Record<string, string> = {}, status = 200): Reply {
  const given = { "Content-Type": "application/pdf", "Content-Length": "3", ...headers };
  const all = Object.entries(given).filter(([, value]) => value !== "");
  return () => new Response(status === 200 ? BYTES : null, { status, headers: all as [string, string][] });
}

const to = (location: string, status = 302) => file({ Location: location }, status);

test("a file is fetched once, without encoding and without following redirects", async () => {
  const sent = fakeNetwork(file());
  const found = await open(`${LINK}#page=2`);
  expect(found).toMatchObject({ size: 3, contentType: "application/pdf", fileName: "a plan.pdf" });
  expect(await new Response(typeof found === "string" ? null : found.body).bytes()).toEqual(BYTES);
  expect(sent).toMatchObject([{ url: LINK, redirect: "manual", headers: { "accept-encoding": "identity" } }]);
});

test.each([
  ["https://files.example/", null],
  ["https://files.example/a", null],
  ["https://files.example/.htaccess", null],
  ["https://files.example/%2Fetc%2Fa.txt", null],
  ["https://files.example/%E0%A4%A.txt", null],
  ["https://files.example/%D7%A9.png", "ש.png"],
])("the file of %s has the name %s", async (link, fileName) => {
  fakeNetwork(file({ "Content-Type": "" }));
  expect(await open(link)).toMatchObject({ fileName, contentType: "application/octet-stream" });
});

test.each([
  ["http://files.example/a", "must begin with https://"],
  ["https://127.0.0.1/a", "must have a host name, not an IP address"],
  ["https://[::1]/a", "must have a host name, not an IP address"],
  ["https://localhost/a", "must have a public host name"],
  ["https://metadata.google.internal/a", "must have a public host name"],
  ["https://files.example:8443/a", "must use port 443"],
  ["https://parley.example/a", "must not be an address of this service"],
  ["https://ann:secret@files.example/a", "must not contain a user name or a password"],
  ["nonsense", "must be a URL such as https://example.com/webhooks"],
])("nothing is fetched from %s, neither as a link nor where one leads to", async (url, fault) => {
  const sent = fakeNetwork(to(url));
  expect(await open(url)).toBe(`the link ${fault}`);
  expect(sent).toEqual([]);
  const isRelative = url === "nonsense";
  if (!isRelative) expect(await open()).toBe(`the link ${fault}`);
  expect(sent).toHaveLength(isRelative ? 0 : 1);
});

test("redirects are followed, also relative ones, but not without end", async () => {
  const sent = fakeNetwork(to("/b", 301), to("//cdn.example/c#d", 303), to("https://cdn.example/e.png", 308), file());
  expect(await open()).toMatchObject({ fileName: "e.png" });
  const hosts = ["https://files.example/b", "https://cdn.example/c", "https://cdn.example/e.png"];
  expect(sent.map(({ url }) => url)).toEqual([LINK, ...hosts]);
  const long = fakeNetwork(to("/1"), to("/2"), to("/3"), to("/4"), file());
  expect(await open()).toBe("the link leads on too often");
  expect(long).toHaveLength(4);
});

test.each<[string, Reply, string]>([
  ["a page", file({ "Content-Type": "text/html; charset=utf-8" }), "the link is a page"],
  ["a page of XHTML", file({ "Content-Type": "application/xhtml+xml" }), "the link is a page"],
  ["no length", file({ "Content-Length": "" }), "the server does not say how long the file is"],
  ["no bytes", file({ "Content-Length": "0" }), "the server does not say how long the file is"],
  ["an encoding", file({ "Content-Encoding": "br" }), "the server does not say how long the file is"],
  ["too many bytes", file({ "Content-Length": String(MAX_FILE_BYTES + 1) }), "the file is too large"],
  ["a part", file({}, 206), "the server answered 206"],
  ["nothing found", file({}, 404), "the server answered 404"],
  ["a redirect without an address", file({}, 302), "the server answered 302"],
  ["no answer", () => Promise.reject(connectionLost()), "the server did not answer"],
])("a response with %s has no file", async (_what, reply, reason) => {
  fakeNetwork(reply);
  expect(await open()).toBe(reason);
});

test("a file that breaks off, or is longer than its server says, breaks", async () => {
  for (const length of ["2", "4"]) {
    fakeNetwork(file({ "Content-Length": length }));
    const found = await open();
    await expect(new Response(typeof found === "string" ? null : found.body).bytes()).rejects.toThrow();
  }
});

test("a server that does not answer by the deadline has no file", async () => {
  const deadline = new AbortController();
  const { promise: called, resolve } = Promise.withResolvers<void>();
  fakeNetwork((signal) => {
    resolve();
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted"))));
  });
  const opening = open(LINK, deadline.signal);
  await called;
  deadline.abort();
  expect(await opening).toBe("the server did not answer");
});
