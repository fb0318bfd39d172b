import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { clientOf, json } from "./server.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const ABORTED = { name: "AbortError" };

/** Collects what nobody refers to. */
async function collectGarbage(): Promise<void> {
  const garbage = new WeakRef({});
  await expect
    .poll(() => {
      collect();
      return garbage.deref() === undefined;
    })
    .toBe(true);
}

// Node's garbage collector cuts a copied request from its signal: https://github.com/nodejs/undici/issues/4068

test("an attempt is given up in time, also after garbage was collected", async () => {
  const { parley, asked } = await clientOf([collectGarbage, json(200, { key: {}, usage: {} })], { timeoutMs: 300 });
  await parley.api.GET("/key");
  expect(asked.length).toBeGreaterThanOrEqual(2);
});

test("a client's signal ends its call, also after garbage was collected", async () => {
  const stop = new AbortController();
  const { parley } = await clientOf([
    async () => {
      await collectGarbage();
      stop.abort();
    },
  ]);
  await expect(parley.media("cht_g1", "msg_g1", { signal: stop.signal })).rejects.toMatchObject(ABORTED);
  const called = await clientOf([() => collectGarbage().then(() => other.abort())]);
  const other = new AbortController();
  await expect(called.parley.api.GET("/key", { signal: other.signal })).rejects.toMatchObject(ABORTED);
});

test("a client's signal ends a stream of events, also after garbage was collected", async () => {
  const stop = new AbortController();
  const { parley } = await clientOf([
    (response) => void response.writeHead(200, { "Content-Type": "text/event-stream" }).write(": open\n\n"),
  ]);
  const following = (async () => {
    for await (const _event of parley.events({ after: "0", signal: stop.signal, onConnection: () => begun.resolve() }));
  })();
  const begun = Promise.withResolvers<void>();
  await begun.promise;
  await collectGarbage();
  stop.abort();
  await following;
});

test("a client's signal ends a download, also after garbage was collected", async () => {
  const stop = new AbortController();
  const { parley } = await clientOf([
    (response) => void response.writeHead(200, { "Content-Type": "image/png", "Content-Length": "9" }).write("part"),
  ]);
  const { body } = await parley.media("cht_g1", "msg_g1", { signal: stop.signal });
  const reads = new Response(body).arrayBuffer();
  await collectGarbage();
  stop.abort();
  await expect(reads).rejects.toMatchObject(ABORTED);
});
