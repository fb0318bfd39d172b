import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openIndex } from "../../src/web/docs/client/find.ts";
import { queryWords, stemOf } from "../../src/web/docs/client/words.ts";
import type { SearchEntry } from "../../src/web/docs/search-index.ts";
import { writeDocs } from "../../src/web/docs/write.ts";

let out = "";
let found: (query: string) => string[];

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), "parley-search-"));
  await writeDocs(out);
  const find = openIndex(JSON.parse(await readFile(join(out, "docs/search.json"), "utf8")) as SearchEntry[]);
  found = (query) => find(queryWords(query)).map(({ entry: [, , href] }) => href);
});
afterAll(() => rm(out, { recursive: true }));

/** What newcomers type, and where the first result may lead: the beginning of its address. */
const QUERIES: [query: string, ...first: string[]][] = [
  ["paginate", "/docs/using-the-api#pages"],
  ["all messages paging", "/docs/using-the-api#pages"],
  ["attachment", "/docs/sending#files"],
  ["read-only", "/docs/operating#a-read-only-key"],
  ["429", "/docs/errors-and-limits#rate-limit"],
  ["rate limit", "/docs/errors-and-limits#rate-limit"],
  ["ratelimit", "/docs/errors-and-limits#rate-limit"],
  ["too many requests", "/docs/errors-and-limits#rate-limit"],
  ["read only api key", "/docs/operating#a-read-only-key"],
  ["create api key", "/docs/operating#create-an-organization-and-a-key"],
  ["authentication", "/docs/using-the-api#authentication"],
  ["send a message", "/docs/sending", "/docs/quick-start#send-a-message"],
  ["send image", "/docs/sending#files"],
  ["upload pdf", "/docs/sending#files"],
  ["download attachment", "/docs/receiving#media"],
  ["duplicate messages", "/docs/sending#retry-safely"],
  ["idempotency", "/docs/sending#retry-safely"],
  ["webhook signature", "/docs/webhooks#verify-a-call", "/docs/client#verify-a-webhook"],
  ["verify webhook", "/docs/webhooks#verify-a-call", "/docs/client#verify-a-webhook"],
  ["webhook localhost", "/docs/webhooks#receive-messages", "/docs/command-line#events-on-your-machine"],
  ["webhook retries", "/docs/webhooks"],
  ["replay events", "/docs/webhooks#replay-events"],
  ["live stream", "/docs/events#read-the-live-stream"],
  ["sse", "/docs/events#read-the-live-stream"],
  ["websocket", "/docs/events#read-the-live-stream", "/docs/web-chat#the-visitors-socket"],
  ["polling", "/docs/using-the-api#polling", "/docs/receiving#without-polling", "/docs/events#move-from-polling"],
  ["schedule message", "/docs/message-life#send-later"],
  ["send later", "/docs/message-life#send-later"],
  ["cancel message", "/docs/message-life#take-it-back", "/docs/reference/messages#cancelMessage"],
  ["unsend", "/docs/message-life#take-it-back"],
  ["buttons", "/docs/rich-messages#offer-choices"],
  ["quick replies", "/docs/rich-messages#offer-choices", "/docs/web-chat#replies"],
  ["emoji reaction", "/docs/rich-messages#react-mark-as-read-show-typing"],
  ["typing indicator", "/docs/rich-messages#react-mark-as-read-show-typing", "/docs/reference/messages#showTyping"],
  ["send location", "/docs/rich-messages#send-a-place-or-a-contact-card"],
  ["whatsapp template", "/docs/whatsapp#templates"],
  ["24 hour window", "/docs/whatsapp#the-24-hour-window"],
  ["connect whatsapp", "/docs/whatsapp"],
  ["telegram bot", "/docs/telegram"],
  ["embed widget", "/docs/web-chat"],
  ["csp", "/docs/web-chat#if-your-site-has-a-content-security-policy"],
  ["sign in users hmac", "/docs/web-chat#sign-in-your-own-users"],
  ["widget color", "/docs/web-chat#how-it-looks-and-speaks", "/docs/console#change-how-a-web-chat-looks"],
  ["deploy", "/docs/deploying"],
  ["custom domain", "/docs/deploying#your-own-domain"],
  ["rotate secrets", "/docs/deploying#rotating-secrets"],
  ["rotate key", "/docs/operating#rotating-a-key"],
  ["backup", "/docs/deploying#restoring"],
  ["gdpr delete", "/docs/operating#redacting", "/docs/retention"],
  ["data retention", "/docs/retention"],
  ["export", "/docs/using-the-api#export"],
  ["pricing", "/docs/performance#bills"],
  ["invite team member", "/docs/console#let-a-member-sign-in"],
  ["sso", "/docs/console#sign-in-with-cloudflare-access", "/docs/deploying#cloudflare-access"],
  ["passkey", "/docs/console#sign-in-with-a-passkey"],
  ["assign conversation", "/docs/receiving#whose-chat-it-is"],
  ["internal notes", "/docs/receiving#notes"],
  ["unanswered chats", "/docs/receiving#chats-that-wait-for-an-answer", "/docs/message-life#chats-that-wait"],
  ["message status", "/docs/sending#status"],
  ["message failed", "/docs/sending#failed-messages"],
  ["message stuck", "/docs/sending#why-a-message-waits"],
  ["sdk", "/docs/client"],
  ["npm install", "/docs/client#install", "/docs/quick-start#start"],
  ["openapi", "/docs/using-the-api#openapi-and-a-client"],
  ["error codes", "/docs/errors-and-limits#error-codes"],
  ["environment variables", "/docs/operating#configuration"],
  ["logs", "/docs/operating#logs"],
  ["wrangler dev", "/docs/contributing#wrangler-dev"],
  ["permissions", "/docs/self-service", "/docs/using-the-api", "/docs/console"],
  ["audit log", "/docs/self-service#the-audit-log"],
  ["search messages", "/docs/using-the-api#what-a-search-finds"],
  ["echo bot", "/docs/client#echo-bot"],
  ["cli", "/docs/command-line"],
  ["quota", "/docs/errors-and-limits#quota"],
  ["max file size", "/docs/sending#files"],
];

test.for(QUERIES)("a search for “%s” leads to the answer first", ([query, ...first]) => {
  const [best = "nothing"] = found(query);
  expect(
    first.some((prefix) => best.startsWith(prefix)),
    `${query}: ${best}`,
  ).toBe(true);
});

test("the words of a query are found as they are typed, in any order, case and form", () => {
  expect(found("templ whats")[0]).toMatch(/^\/docs\/whatsapp/);
  for (const typed of ["temp", "templa", "templat", "template", "templates"]) {
    expect(found(`whatsapp ${typed}`)[0], typed).toMatch(/^\/docs\/whatsapp/);
  }
  expect(found("LIMITS rates")[0]).toBe("/docs/errors-and-limits#rate-limit");
  expect(found("hmac python user")[0]).toBe("/docs/web-chat#sign-in-your-own-users");
  expect(["pages", "paging", "paged", "page"].map(stemOf)).toEqual(Array(4).fill("pag"));
  expect([stemOf("retries"), stemOf("status"), stemOf("429")]).toEqual(["retry", "status", "429"]);
});

test("a word that is nowhere hides nothing, and words that are all nowhere find nothing", () => {
  expect(found("rate limit zzzz")[0]).toBe("/docs/errors-and-limits#rate-limit");
  expect(found("zzzz qqqq")).toEqual([]);
  expect(found("   ")).toEqual([]);
});

test("a result shows the text around its match, with the words to mark", () => {
  const entries: SearchEntry[] = [
    ["Guide", "Pages", "/docs/guide#pages", `${"Long text. ".repeat(30)}A page has rows.`],
  ];
  const [hit] = openIndex(entries)(queryWords("paginate rows"));
  expect(hit?.excerpt).toMatch(/^… .*A page has rows\.$/);
  expect(hit?.marks).toContain("rows");
});
