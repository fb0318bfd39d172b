import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { plainHttpCheck } from "../../src/cli/parley/doctor/service-checks.ts";
import { Service } from "../../src/cli/parley/service.ts";
import { plainHttpStep } from "../../src/cli/parley/smoke/front-steps.ts";
import { close } from "../support/fake-server.ts";
import { serve } from "./fake-service.ts";

type Answer = (response: ServerResponse) => void;

/** What doctor says of plain http, of a service behind https at the same address. */
async function checkOf(url: string, patienceMs?: number): Promise<string[]> {
  const connection = { root: null, urlFrom: "test", isHere: false, adminToken: null, apiKey: null };
  const service = new Service({ ...connection, url: url.replace("http:", "https:") });
  const checks = await plainHttpCheck(service, patienceMs);
  return checks.map(({ what, state, found }) => `${state} ${what}: ${found}`);
}

/** The address of a server that answers the first call, and then the others. */
async function answering(first: Answer, others: Answer = toHttps): Promise<string> {
  let calls = 0;
  const { url } = await serve((_request, response) => (calls++ === 0 ? first : others)(response));
  return url;
}

function toHttps(response: ServerResponse): void {
  response.writeHead(301, { Location: "https://parley.example/" }).end("moved");
}

function hang(): void {}

const refusal = JSON.stringify({ code: "https_required" });
const refuse: Answer = (response) => void response.writeHead(403).end(refusal);
/** A part of an answer, and then the end of the connection. */
const cut: Answer = (response) => {
  response.writeHead(403, { "Content-Length": refusal.length }).write("{", () => response.destroy());
};

test.for<[string, Answer, Answer, string]>([
  ["refuses it", refuse, toHttps, "ok plain http: plain http is refused, or leads to https"],
  ["leads to https", toHttps, toHttps, "ok plain http: plain http is refused, or leads to https"],
  [
    "serves pages",
    refuse,
    (response) => response.end("script"),
    "warns plain http: pages and scripts are served over plain http",
  ],
  [
    "takes a key",
    (response) => response.writeHead(401).end("{}"),
    toHttps,
    "warns plain http: GET /api/v1/key over plain http answered 401: a key would be readable on the network",
  ],
  ["cuts answers", cut, toHttps, "unknown plain http: plain http got no complete answer (UND_ERR_SOCKET)"],
  [
    "answers with half a body",
    (response) => response.writeHead(403).end(refusal.slice(0, -3)),
    toHttps,
    "unknown plain http: plain http got no complete answer (broken JSON)",
  ],
  [
    "ends the connection at its second call",
    refuse,
    (response) => response.destroy(),
    "unknown plain http: plain http got no complete answer (UND_ERR_SOCKET)",
  ],
])("of a front that %s, doctor says so", async ([, first, others, said]) => {
  expect(await checkOf(await answering(first, others))).toEqual([said]);
});

test.for<[string, Answer, Answer]>([
  ["at once", hang, hang],
  ["in a body", (response) => void response.writeHead(403).write("{"), hang],
  ["at its second call", toHttps, hang],
])("of a front that hangs %s, doctor says that nothing is known", async ([, first, others]) => {
  const url = await answering(first, others);
  expect(await checkOf(url, 300)).toEqual(["unknown plain http: plain http got no complete answer (0.3 s)"]);
});

test("of an address that refuses the connection, doctor says that nothing listens", async () => {
  const { server, url } = await serve(() => {});
  await close(server);
  expect(await checkOf(url)).toEqual(["ok plain http: nothing listens to plain http"]);
});

test("an interruption ends the wait for a front that hangs", async () => {
  const stop = new AbortController();
  const { server, url } = await serve(hang);
  const asked = once(server, "request");
  const step = plainHttpStep(url, stop.signal);
  await asked;
  stop.abort(new Error("interrupted"));
  await expect(step).rejects.toThrow("interrupted");
});
