import { afterEach, expect, test, vi } from "vitest";
import { fakeNetwork } from "../fake-network.ts";
import { accepted, credentials, network, outbound, refused, TOKEN, whatsapp } from "./network.ts";

afterEach(() => void vi.useRealTimers());

function send(signal = new AbortController().signal) {
  return whatsapp.send(outbound(), credentials, network, signal);
}

test.each([2, 131000, 131016, 131057, 133004])("the code %i is tried again later", async (code) => {
  fakeNetwork(refused(code, { message: "Busy" }));
  expect(await send()).toEqual({
    outcome: "retry",
    code: `network_${code}`,
    message: "Busy",
    afterMs: null,
    wholeChannel: false,
    parts: [],
  });
});

test("the code 1 is retried once", async () => {
  fakeNetwork(refused(1, { message: "An unknown error occurred" }));
  expect(await send()).toEqual({
    outcome: "retry",
    code: "network_1",
    message: "An unknown error occurred",
    afterMs: null,
    wholeChannel: false,
    once: true,
    parts: [],
  });
});

test.each([4, 80007, 130429])("the code %i slows the whole channel", async (code) => {
  fakeNetwork(refused(code));
  expect(await send()).toMatchObject({ outcome: "retry", code: `network_${code}`, wholeChannel: true });
});

test.each([
  [{}, 6_000],
  [{ "Retry-After": "2" }, 6_000],
  [{ "Retry-After": "9" }, 9_000],
] as [Record<string, string>, number][])("a recipient too fast waits alone, with %j for %i ms", async (headers, ms) => {
  fakeNetwork(refused(131056, {}, headers));
  expect(await send()).toMatchObject({
    outcome: "retry",
    code: "network_131056",
    afterMs: ms,
    wholeChannel: false,
  });
});

test.each<[code: number, wish: string | undefined, ms: number]>([
  [131064, undefined, 3_600_000],
  [131064, "7200", 7_200_000],
  [134101, undefined, 600_000],
  [134101, "30", 600_000],
])("the code %i, which Meta lifts later, makes the message wait; Retry-After %j, %i ms", async (code, wish, ms) => {
  fakeNetwork(refused(code, {}, wish === undefined ? {} : { "Retry-After": wish }));
  expect(await send()).toMatchObject({ outcome: "retry", code: `network_${code}`, afterMs: ms, wholeChannel: false });
});

test.each([
  ...[130403, 130472, 130497, 131008, 131009, 131021, 131026, 131030, 131049, 131050, 131051, 131052, 131053, 131055],
  ...[131062, 134100, 134102, 137000],
])("the code %i is final for the message, whatever its status, and shows that the channel works", async (code) => {
  for (const status of [400, 401, 403, 500]) {
    fakeNetwork(refused(code, { message: "No", details: "Because", status }));
    const refusal = { outcome: "failed", code: `network_${code}`, message: "No: Because", works: true, parts: [] };
    expect(await send()).toEqual(refusal);
  }
});

test.each([100, 135000])("the code %i is final for the message, and may be about the channel", async (code) => {
  for (const error_subcode of [undefined, 2494010, 2018001]) {
    fakeNetwork(refused(code, { message: "No", error_subcode }));
    const refusal = { outcome: "failed", code: `network_${code}`, message: "No", unsure: `${code}: No`, parts: [] };
    expect(await send()).toEqual(refusal);
  }
});

test.each<[string, Parameters<typeof refused>[1]]>([
  ["with the subcode 33", { error_subcode: 33 }],
  ["of the type GraphMethodException", { type: "GraphMethodException" }],
  ["of this type with a subcode that says nothing", { type: "GraphMethodException", error_subcode: 2494010 }],
  [
    "for an id that is no number's",
    { message: "(#100) Tried accessing nonexisting field (messages) on node type (X)" },
  ],
  ["that demands a proof", { message: "API calls from the server require an appsecret_proof argument" }],
])("a 100 %s breaks the channel", async (_, error) => {
  fakeNetwork(refused(100, { message: "No access", ...error }), refused(100, { message: "No access", ...error }));
  const reason = `100: ${error?.message ?? "No access"}`;
  expect(await send()).toEqual({ outcome: "channel_broken", reason, parts: [] });
});

test.each([1, 100, 131000, 131026, 190, 133010, 999_999])(
  "the code %i is retried if Meta says that it is transient",
  async (code) => {
    fakeNetwork(refused(code, { message: "Soon", is_transient: true }));
    const later = { outcome: "retry", code: `network_${code}`, message: "Soon", afterMs: null, wholeChannel: false };
    expect(await send()).toEqual({ ...later, parts: [] });
  },
);

test("the code 131047 has an error code of the service", async () => {
  fakeNetwork(refused(131047, { message: "Re-engagement message" }));
  expect(await send()).toEqual({
    outcome: "failed",
    code: "outside_messaging_window",
    message: "Re-engagement message",
    works: true,
    parts: [],
  });
});

test.each([131063, 132000, 132001, 132005, 132007, 132008, 132012, 132015, 132016, 132018, 132068, 132069])(
  "the template error %i has the service's own code",
  async (code) => {
    fakeNetwork(refused(code, { message: "Mismatch" }));
    const refusal = { outcome: "failed", code: "template_rejected", message: "Mismatch", works: true, parts: [] };
    expect(await send()).toEqual(refusal);
  },
);

test.each([
  ...[0, 3, 10, 33, 190, 200, 250, 299, 368, 131005, 131031, 131037, 131042, 131045, 131048],
  ...[133000, 133005, 133006, 133008, 133009, 133010, 133015, 133016],
])("the code %i breaks the channel", async (code) => {
  fakeNetwork(refused(code, { message: "Denied" }));
  expect(await send()).toEqual({ outcome: "channel_broken", reason: `${code}: Denied`, parts: [] });
});

test.each<[code: number, status: number, outcome: string]>([
  [131026, 500, "failed"],
  [131026, 429, "failed"],
  [131026, 401, "failed"],
  [131026, 200, "failed"],
  [131048, 429, "channel_broken"],
  [131047, 503, "failed"],
  [190, 500, "channel_broken"],
  [131000, 400, "retry"],
  [131056, 400, "retry"],
  [132001, 404, "failed"],
])("the code %i with status %i is decided by the code: %s", async (code, status, outcome) => {
  fakeNetwork(refused(code, { status }));
  expect(await send()).toMatchObject({ outcome });
});

test.each<[status: number, outcome: object]>([
  [400, { outcome: "failed", code: "network_999999" }],
  [404, { outcome: "failed", code: "network_999999" }],
  [401, { outcome: "retry", code: "network_999999", wholeChannel: false }],
  [403, { outcome: "retry", code: "network_999999", wholeChannel: false }],
  [429, { outcome: "retry", code: "network_999999", wholeChannel: true }],
  [500, { outcome: "retry", code: "network_999999", wholeChannel: false }],
  [503, { outcome: "retry", code: "network_999999", wholeChannel: false }],
  [200, { outcome: "unknown" }],
])("an unknown code is decided by its status %i", async (status, outcome) => {
  fakeNetwork(refused(999_999, { status }));
  expect(await send()).toMatchObject(outcome);
});

test("the text of an error never decides its outcome", async () => {
  fakeNetwork(refused(131000, { message: "(#131047) Access token expired, template rejected, rate limit hit" }));
  expect(await send()).toMatchObject({ outcome: "retry", wholeChannel: false });
});

test.each([
  [500, false],
  [502, false],
  [503, false],
  [504, false],
  [429, true],
])("the status %i without an error means that nothing was accepted", async (status, wholeChannel) => {
  fakeNetwork(() => new Response("<html>Sorry</html>", { status, headers: { "Retry-After": "3" } }));
  expect(await send()).toEqual({
    outcome: "retry",
    code: `http_${status}`,
    message: `The network answered ${status}`,
    afterMs: 3_000,
    wholeChannel,
    parts: [],
  });
});

test.each<[string, () => Response]>([
  ["a page", () => new Response("<html>OK</html>")],
  ["an empty body", () => new Response("")],
  ["no body", () => new Response(null, { status: 204 })],
  ["JSON that is cut off", () => new Response('{"messages":[{"id":"wam')],
  ["JSON of another shape", () => Response.json({ success: true })],
  ["null", () => Response.json(null)],
  ["a list", () => Response.json([{ id: "wamid.1" }])],
  ["no message", () => Response.json({ messages: [] })],
  ["a message without an id", () => Response.json({ messages: [{}] })],
  ["an empty id", () => Response.json({ messages: [{ id: "" }] })],
  ["an id that is a number", () => Response.json({ messages: [{ id: 1 }] })],
  ["an error without a code", () => Response.json({ error: { message: "No" } })],
  ["a page with status 404", () => new Response("<html>Not here</html>", { status: 404 })],
  ["a page with status 403", () => new Response("<html>Blocked</html>", { status: 403 })],
  ["an accepted message behind 64 KiB", () => Response.json({ x: "x".repeat(70_000), messages: [{ id: "wamid.1" }] })],
])("%s leaves the outcome unknown", async (_name, reply) => {
  fakeNetwork(reply);
  expect(await send()).toMatchObject({ outcome: "unknown", parts: [] });
});

test("a token that Meta quotes is removed from the text", async () => {
  fakeNetwork(refused(190, { status: 401, message: `Malformed access token ${TOKEN}` }));
  expect(await send()).toEqual({
    outcome: "channel_broken",
    reason: "190: Malformed access token [token]",
    parts: [],
  });
});

test("a refusal without words says so", async () => {
  fakeNetwork(() => Response.json({ error: { code: 131026 } }, { status: 400 }));
  expect(await send()).toMatchObject({ outcome: "failed", message: "The network gave no reason" });
});

test("nothing is logged, whatever happens", async () => {
  const logs = (["log", "info", "warn", "error", "debug"] as const).map((level) => vi.spyOn(console, level));
  fakeNetwork(
    accepted("wamid.1"),
    refused(190, { message: `Malformed ${TOKEN}` }),
    () => Promise.reject(new Error(`POST https://graph.test/ ${TOKEN}`)),
    () => new Response("<html>"),
  );
  const outcomes = [await send(), await send(), await send(), await send()];
  expect(logs.flatMap((log) => log.mock.calls)).toEqual([]);
  expect(JSON.stringify(outcomes)).not.toContain(TOKEN);
  vi.restoreAllMocks();
});
