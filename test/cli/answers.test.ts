import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { awaitHealthy } from "../../src/cli/wrangler.ts";

test("a server that doesn't answer the first request is asked again", async () => {
  let calls = 0;
  const server = createServer((_request, response) => {
    if (++calls > 1) response.end("ok");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await awaitHealthy(`http://127.0.0.1:${port}`, new AbortController().signal, 50);
  expect(calls).toBeGreaterThan(1);
  server.closeAllConnections();
  server.close();
});
