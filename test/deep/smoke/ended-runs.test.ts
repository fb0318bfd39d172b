import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { newSmokeHome, runSmoke } from "../../support/world/smoke.ts";
import { smokeService } from "../../support/world/smoke-service.ts";

const BIN = new URL("../../../src/cli/parley/bin.js", import.meta.url).pathname;
const at = smokeService();

/** Runs `parley doctor --smoke`, and ends it when the front is asked for this. */
async function endAt(asked: string, signal: NodeJS.Signals) {
  let child: ReturnType<typeof spawn> | undefined;
  let isSent = false;
  const place = await at.begin({
    answers({ method, url }) {
      if (isSent || !`${method} ${url}`.includes(asked)) return false;
      isSent = true;
      child?.kill(signal);
      // A deletion that went on after a kill would end while the test looks at what is left.
      return signal === "SIGKILL" && method === "DELETE";
    },
  });
  const env = {
    PATH: process.env.PATH,
    PARLEY_URL: place.url,
    PARLEY_ADMIN_TOKEN: place.adminToken,
    XDG_CONFIG_HOME: place.home,
  } as unknown as NodeJS.ProcessEnv;
  child = spawn(process.execPath, ["--no-warnings", BIN, "doctor", "--smoke"], { env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  expect(isSent).toBe(true);
  expect(output).not.toContain(place.adminToken);
  return { ...place, code, output };
}

test.for<[string, NodeJS.Signals]>([
  ["POST /admin/v1/organizations", "SIGINT"],
  ["POST /api/v1/chats", "SIGTERM"],
  ["/media", "SIGINT"],
  ["/events/stream", "SIGTERM"],
  ["DELETE /admin/v1/organizations", "SIGINT"],
])("a smoke test that is interrupted at %s leaves nothing (%s)", async ([asked, signal]) => {
  const { code, output, marks } = await endAt(asked, signal);
  expect(output).toContain("Interrupted. What the smoke test made is deleted");
  const proved = output.split("\n").filter((line) => line.startsWith("✓"));
  expect(proved.length).toBeGreaterThan(2);
  for (const line of proved) expect(line).toMatch(/^✓ [a-z' ,]+: .+ \(\d+\.\d s\)$/);
  expect(code).toBe(1);
  expect(await at.left()).toEqual([]);
  expect(await marks()).toEqual([]);
});

test.for(["POST /admin/v1/organizations/", "POST /api/v1/chats", "/media", "DELETE /admin/v1/organizations"])(
  "after a kill at %s, the next run of the same folder deletes what is left, and that of another one does not",
  async (asked) => {
    const { marks, env, url, adminToken } = await endAt(asked, "SIGKILL");
    expect(await marks()).toHaveLength(1);
    const before = await at.left();
    expect(before.length).toBeGreaterThan(0);
    await at.lookForOld(url, (await newSmokeHome()).env);
    expect(await at.left()).toEqual(before);
    const again = await runSmoke({ url, env, adminToken, webhook: null });
    expect(again.failed).toEqual([]);
    expect(again.checks.find(({ what }) => what === "database")?.found).toMatch(/deleted \d left by earlier runs/);
    expect(await at.left()).toEqual([]);
    expect(await marks()).toEqual([]);
  },
);
