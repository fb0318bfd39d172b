import { expect, test } from "vitest";
import { lastingPort } from "../support/world/lasting-port.ts";
import { readArguments } from "./arguments.ts";
import { withSetup } from "./bench.ts";
import { longestStep } from "./longest-step.ts";
import { withServer } from "./server.ts";
import { StepPlace } from "./step-fixtures.ts";

const SETTINGS = { data: readArguments([]).data, seconds: 1, wrk: null, log: () => undefined };
const TIMES = 100;
/** Takes a few milliseconds. */
const WORK =
  "with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 30000) select max(n) from numbers";

test("work with awaits in between is one long step, and a chain of calls is many short ones", async () => {
  await withSetup(SETTINGS, { minify: false }, async (shared) => {
    const setup = { ...shared, scripts: { ...shared.scripts, counted: shared.scripts.steps } };
    const inspector = await lastingPort();
    await withServer(setup, { counted: true, showErrors: true, inspector }, async (server) => {
      await StepPlace.migrate(server, setup.secrets.ADMIN_TOKEN);
      const place = new StepPlace(server, setup.secrets.ADMIN_TOKEN);
      const worker = { binding: "ORGANIZATIONS", id: "org_worker" } as const;
      const caller = { binding: "CHATS", id: "cht_caller" } as const;
      const object = place.object(worker.binding, worker.id);
      const watched = (work: () => Promise<unknown>) => longestStep(server, inspector, work);
      await watched(() => object.repeat(WORK, 1));
      const awaited = await watched(() => object.repeat(WORK, TIMES));
      // What else the machine does in a step can only make it longer: the shortest of many is the true one.
      let chain = Number.POSITIVE_INFINITY;
      for (let n = 0; n < 30 && awaited <= 10 * chain; n++) {
        chain = Math.min(chain, await watched(() => object.repeat(WORK, TIMES, caller)));
      }
      expect(chain).toBeGreaterThan(0);
      expect(awaited).toBeGreaterThan(10 * chain);
    });
  });
});
