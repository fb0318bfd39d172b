import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { runCron } from "../../src/cli/local/cron.ts";

test("the cron trigger runs again and again, also after a run that fails, until the signal", async () => {
  const paths: (string | undefined)[] = [];
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const server = createServer(({ url }, response) => {
    paths.push(url);
    if (paths.length === 2) {
      response.destroy();
      return;
    }
    response.statusCode = paths.length === 1 ? 500 : 200;
    response.end("ok");
    if (paths.length === 4) resolve();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const stop = new AbortController();
  const { port } = server.address() as AddressInfo;
  const running = runCron(`http://127.0.0.1:${port}`, stop.signal, 1);
  await enough;
  stop.abort();
  await expect(running).rejects.toThrow();
  expect(new Set(paths)).toEqual(new Set(["/cdn-cgi/handler/scheduled"]));
});
