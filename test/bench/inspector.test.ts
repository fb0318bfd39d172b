import { expect, test } from "vitest";
import { lastingPort } from "../support/world/lasting-port.ts";
import { readArguments } from "./arguments.ts";
import { withSetup } from "./bench.ts";
import { openInspector } from "./inspector.ts";
import { withServer } from "./server.ts";

const SETTINGS = { data: readArguments([]).data, seconds: 1, wrk: null, log: () => undefined };

test("a connection that is over takes no call, and the isolate's next one is answered", async () => {
  await withSetup(SETTINGS, { minify: true }, async (setup) => {
    const port = await lastingPort();
    await withServer(setup, { counted: false, showErrors: true, inspector: port }, async () => {
      const first = await openInspector("parley-objects", port);
      await first.close();
      await expect(first.call("Runtime.getHeapUsage")).rejects.toThrow("parley-objects hung up");
      const next = await openInspector("parley-objects", port);
      expect(await next.call("Runtime.getHeapUsage")).toMatchObject({ usedSize: expect.any(Number) });
      await next.close();
    });
  });
});
