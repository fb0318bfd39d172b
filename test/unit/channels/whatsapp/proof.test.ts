import { createHmac } from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";
import { graphFetch, graphUrl } from "../../../../src/channels/whatsapp/graph.ts";
import { inspectNumber } from "../../../../src/channels/whatsapp/inspect.ts";
import { listWhatsAppTemplates } from "../../../../src/channels/whatsapp/list-templates.ts";
import { type Reply, WHOLE } from "../fake-network.ts";
import { FILE, files } from "../outbound.ts";
import { accepted, credentials, network, outbound, PHONE_ID, refused, TOKEN, whatsapp } from "./network.ts";

type Own = Record<string, string>;

/** Meta, which answers with `replies` in turn. @returns the path of each call and its proof */
function meta(...replies: Reply[]): [path: string, proof: string | null][] {
  const calls: [string, string | null][] = [];
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    const { pathname, searchParams } = new URL(url);
    const reply = replies[calls.push([pathname.slice("/v24.0/".length), searchParams.get("appsecret_proof")]) - 1];
    if (!reply) throw new Error(`no reply to ${url}`);
    return reply(init.signal, url);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return calls;
}

/** Credentials that no other test uses: an isolate remembers refused proofs. */
let apps = 0;
const ofAnApp = () => ({ ...credentials, appSecret: `the secret of app ${++apps}` });
const proofOf = ({ accessToken = "", appSecret = "" }: Own) =>
  createHmac("sha256", appSecret).update(accessToken).digest("hex");
const send = (own: Own) => whatsapp.send(outbound(), own, network, new AbortController().signal);

const INVALID = refused(100, { message: "Invalid appsecret_proof provided in the API argument" });
const DEMANDED = refused(100, { message: "API calls from the server require an appsecret_proof argument" });

test("each call of the Graph API proves that the caller knows the app's secret, and no other call does", async () => {
  const own = ofAnApp();
  const lookup = () => Response.json({ url: "https://lookaside.fbsbx.com/v24.0/1", mime_type: "image/png" });
  const calls = meta(
    accepted("wamid.1"),
    () => Response.json({}),
    () => Response.json({ data: [] }),
    lookup,
    () => new Response("x"),
  );
  await send(own);
  await inspectNumber(own, network);
  await listWhatsAppTemplates({ wabaId: "7", after: null }, own, network);
  const media = await whatsapp.media("111", own, network, WHOLE);
  if (media.outcome === "found") await media.body?.cancel();
  const proof = proofOf(own);
  expect(calls).toEqual([
    [`${PHONE_ID}/messages`, proof],
    [PHONE_ID, proof],
    ["7/message_templates", proof],
    ["111", proof],
    ["1", null],
  ]);
});

test("a channel without an app secret proves nothing", async () => {
  const calls = meta(accepted("wamid.1"));
  expect(await send({ phoneNumberId: PHONE_ID, accessToken: TOKEN })).toMatchObject({ outcome: "sent" });
  expect(calls).toEqual([[`${PHONE_ID}/messages`, null]]);
});

test("without a token, the proof is that of an empty one", async () => {
  const own = { appSecret: "the secret of an app without a token" };
  const { searchParams } = new URL(await graphUrl(network, "1", own));
  expect(searchParams.get("appsecret_proof")).toBe(proofOf(own));
});

test("a token of another app than the secret is used without the proof, once Meta has refused it", async () => {
  const own = ofAnApp();
  const calls = meta(INVALID, accepted("wamid.1"), accepted("wamid.2"));
  for (const _ of [1, 2]) expect(await send(own)).toMatchObject({ outcome: "sent" });
  expect(calls.map(([, proof]) => proof)).toEqual([proofOf(own), null, null]);
});

test("if Meta demands a proof and refuses the one that it gets, the channel is broken", async () => {
  const own = ofAnApp();
  const calls = meta(INVALID, DEMANDED);
  const reason = "100: API calls from the server require an appsecret_proof argument";
  expect(await send(own)).toEqual({ outcome: "channel_broken", reason, parts: [] });
  expect(calls).toHaveLength(2);
});

test("a file is uploaded again without the proof, once Meta has refused it", async () => {
  const own = ofAnApp();
  const uploaded = () => Response.json({ id: "1234" });
  const calls = meta(INVALID, uploaded, accepted("wamid.1"));
  const message = outbound({ type: "IMAGE", content: FILE.id, file: FILE });
  const { signal } = new AbortController();
  expect(await whatsapp.send(message, own, network, signal, undefined, files())).toMatchObject({ outcome: "sent" });
  expect(calls).toEqual([
    [`${PHONE_ID}/media`, proofOf(own)],
    [`${PHONE_ID}/media`, null],
    [`${PHONE_ID}/messages`, null],
  ]);
});

test("an upload that Meta refuses for another reason is not made again", async () => {
  const calls = meta(refused(190, { status: 401 }));
  const message = outbound({ type: "IMAGE", content: FILE.id, file: FILE });
  const { signal } = new AbortController();
  expect(await whatsapp.send(message, ofAnApp(), network, signal, undefined, files())).toMatchObject({
    ...{ outcome: "channel_broken" },
  });
  expect(calls).toHaveLength(1);
});

test("a 400 that is too long to read is passed on without its text", async () => {
  const calls = meta(() => new Response("x".repeat(70_000), { status: 400 }));
  const { signal } = new AbortController();
  const response = await graphFetch(network, "1", ofAnApp(), { signal });
  expect([response.status, await response.text(), calls.length]).toEqual([400, "", 1]);
});

test("another 400 is not asked again", async () => {
  const own = ofAnApp();
  const calls = meta(refused(131026));
  expect(await send(own)).toMatchObject({ outcome: "failed", code: "network_131026" });
  expect(calls).toHaveLength(1);
});
