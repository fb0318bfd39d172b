import { expect, test } from "vitest";
import type { Network } from "../../../src/channels/network/adapter.ts";
import { ADAPTERS } from "../../../src/channels/registry.ts";
import type { Credentials } from "../../../src/model/channel.ts";
import type { NetworkAct, Outbound } from "../../../src/model/network.ts";
import { fakeNetwork, WHOLE } from "./fake-network.ts";
import { FILE, files, sending } from "./outbound.ts";
import * as ofTelegram from "./telegram/network.ts";
import * as ofWhatsapp from "./whatsapp/network.ts";

interface Conforming {
  kind: keyof typeof ADAPTERS;
  credentials: Credentials;
  network: Network;
  outbound: (fields?: Partial<Outbound>) => Outbound;
  /** The network's answer with which it gives the place of a file. */
  place: object;
  /** The network's own JSON for a refusal. */
  refusal: object;
}

const NETWORKS: Conforming[] = [
  {
    ...ofTelegram,
    kind: "telegram",
    place: { ok: true, result: { file_path: "photos/1.jpg" } },
    refusal: { ok: false, error_code: 521, description: "No" },
  },
  {
    ...ofWhatsapp,
    kind: "whatsapp",
    place: { url: `${ofWhatsapp.network.base}/file` },
    refusal: { error: { code: 131000, message: "No" } },
  },
];

const NOT_SENT = [521, 522, 523, 525, 526, 530];
const UNKNOWN = [520, 524, 527];
const STATUSES = [...NOT_SENT, ...UNKNOWN];
const EACH = NETWORKS.flatMap((each) => STATUSES.map((status) => ({ ...each, status })));

const ACTS: NetworkAct[] = [
  { act: "react", messageId: "msg_g0123456789ABCDE", networkId: "123456:42:7", emoji: "👍", at: 1 },
  { act: "read", networkId: "wamid.7" },
  { act: "typing", networkId: "wamid.7" },
];

/** Cloudflare's answer in place of the network's, as often as it is asked. */
function answerWith(status: number, before: object[] = []) {
  const cloudflare = () => new Response(`error code: ${status === 530 ? 1016 : status}`, { status });
  return fakeNetwork(
    ...before.map((body) => () => Response.json(body)),
    ...Array.from({ length: 5 }, () => cloudflare),
  );
}

const inTime = () => new AbortController().signal;

function send({ kind, credentials, network, outbound }: Conforming, fields: Partial<Outbound> = {}) {
  return sending(ADAPTERS[kind]).send(outbound(fields), credentials, network, inTime(), undefined, files());
}

/** That the outcome of a call is Cloudflare's, and no refusal by the network. */
function expectOutcome(outcome: object | undefined, status: number) {
  const message = expect.stringContaining(`(Cloudflare's status ${status})`);
  const unsent = { outcome: "retry", code: "connection", message, afterMs: null, wholeChannel: false };
  expect(outcome).toMatchObject(UNKNOWN.includes(status) ? { outcome: "unknown", message } : unsent);
}

test("every network is fed with Cloudflare's statuses", () => {
  expect(NETWORKS.map(({ kind }) => kind).sort()).toEqual(Object.keys(ADAPTERS).sort());
});

test.each(EACH)("$kind: a message that Cloudflare answers with $status", async (each) => {
  answerWith(each.status);
  expectOutcome(await send(each), each.status);
});

test.each(EACH)("$kind: a file that Cloudflare answers with $status", async (each) => {
  answerWith(each.status);
  const outcome = await send(each, { type: "DOCUMENT", content: "", text: "", file: FILE });
  // A lost upload sends no message, so it is repeated.
  const isUpload = each.kind === "whatsapp" && UNKNOWN.includes(each.status);
  if (isUpload) expect(outcome).toMatchObject({ outcome: "retry", code: "upload_unknown" });
  else expectOutcome(outcome, each.status);
});

test.each(EACH)("$kind: an act that Cloudflare answers with $status", async ({ kind, status, ...each }) => {
  const { acts } = ADAPTERS[kind];
  const target = { chatId: each.outbound().chatId, address: "42" };
  for (const act of ACTS.filter((one) => acts?.kinds.includes(one.act))) {
    answerWith(status);
    expectOutcome(await acts?.make(act, target, each.credentials, each.network, inTime()), status);
  }
});

test.each(EACH)("$kind: media that Cloudflare answers with $status", async ({ kind, status, place, ...each }) => {
  const unavailable = { outcome: "unavailable", message: expect.stringContaining(`(Cloudflare's status ${status})`) };
  for (const before of [[], [place]]) {
    answerWith(status, before);
    expect(await ADAPTERS[kind].media("F1", each.credentials, each.network, WHOLE)).toEqual(unavailable);
  }
});

test.each(EACH)("$kind: a question that Cloudflare answers with $status", async ({ kind, status, ...each }) => {
  const { registerWebhook, inspect, listTemplates } = ADAPTERS[kind];
  const { credentials, network } = each;
  const description = expect.stringContaining(`(Cloudflare's status ${status})`);
  answerWith(status);
  expect(await inspect?.(credentials, network)).toEqual({ answer: "none", description });
  const registration = await registerWebhook?.("https://parley.example/hooks", "token", credentials, network);
  if (registration) expect(registration).toEqual({ ok: false, code: null, description });
  const templates = await listTemplates?.({ wabaId: "1", after: null }, credentials, network);
  if (templates) expect(templates).toEqual({ outcome: "away", description });
});

test.each(NETWORKS)("$kind: the network's own JSON counts, whatever its status", async (each) => {
  fakeNetwork(() => Response.json(each.refusal, { status: 521 }));
  expect(await send(each)).toMatchObject({
    outcome: "retry",
    code: expect.stringMatching(/^network_/),
    message: "No",
  });
});
