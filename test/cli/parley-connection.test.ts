import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findConnection, originOf } from "../../src/cli/parley/connection.ts";
import { merged, writeProfiles } from "../../src/cli/parley/profiles.ts";
import { readSecret, type SecretInput } from "../../src/cli/parley/secret-input.ts";

async function newRoot(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "parley-place-"));
  onTestFinished(() => rm(root, { recursive: true }));
  await writeFile(join(root, ".dev.vars"), "ADMIN_TOKEN=local-token\n");
  await mkdir(join(root, ".wrangler", "state"), { recursive: true });
  const ids = { organizationId: "org_g1", channelId: "chn_g1", chatId: "cht_g1", visitorHash: "a".repeat(64) };
  await writeFile(join(root, ".wrangler", "state", "parley-demo.json"), JSON.stringify({ ...ids, key: "ply_demo" }));
  return root;
}

test("the default is the service of npm start, with its token and the demo's key", async () => {
  const root = await newRoot();
  expect(await findConnection(root, { XDG_CONFIG_HOME: root }, undefined)).toMatchObject({
    url: "http://localhost:8787",
    adminToken: { value: "local-token", from: ".dev.vars" },
    apiKey: { value: "ply_demo" },
  });
});

test("a secret is only sent to the service that it was saved for", async () => {
  const root = await newRoot();
  const env = { XDG_CONFIG_HOME: root };
  await writeProfiles(join(root, "parley", "profiles.json"), {
    default: { url: "https://one.example", adminToken: "one" },
  });
  expect(await findConnection(root, env, undefined)).toMatchObject({
    url: "https://one.example",
    adminToken: { value: "one" },
    apiKey: null,
  });
  const other = await findConnection(root, { ...env, PARLEY_URL: "https://two.example/" }, undefined);
  expect(other).toMatchObject({ url: "https://two.example", adminToken: null, apiKey: null });
  const named = await findConnection(
    root,
    { ...env, PARLEY_URL: "https://two.example", PARLEY_API_KEY: "x" },
    "default",
  );
  expect(named).toMatchObject({ url: "https://one.example", adminToken: { value: "one" }, apiKey: null });
  await expect(findConnection(root, env, "other")).rejects.toThrow('There is no profile "other"');
});

test.for([
  ["http://parley.example", "https://"],
  ["https://ann:hunter2@parley.example", "password"],
  ["https://parley.example/api", "address alone"],
  ["parley.example", "address alone"],
] as const)("%s is refused as an address, and not repeated", ([url, why]) => {
  expect(() => originOf(url, "PARLEY_URL")).toThrow(why);
  expect(() => originOf(url, "PARLEY_URL")).toThrow(/^(?!.*hunter2)/);
});

test("a typed secret is not shown and can be corrected", async () => {
  let take: (chunk: Buffer) => void = () => {};
  const modes: boolean[] = [];
  let shown = "";
  const input: SecretInput = {
    isTTY: true,
    setRawMode: (raw) => modes.push(raw),
    on: (_event, listener) => (take = listener),
    off: () => {},
    resume: () => {},
    pause: () => {},
  };
  const read = readSecret("Secret: ", input, (text) => (shown += text));
  for (const typed of ["hun", "x\u007f", "ter2\r"]) take(Buffer.from(typed));
  expect(await read).toBe("hunter2");
  expect({ shown, modes }).toEqual({ shown: "Secret: \n", modes: [true, false] });
  const interrupted = readSecret("Secret: ", input, () => {});
  take(Buffer.from("hun\u0003"));
  await expect(interrupted).rejects.toThrow("Nothing was saved.");
});

test("a profile only keeps the secrets of one service", () => {
  const before = { url: "https://one.example", adminToken: "one" };
  expect(merged(before, { url: "https://one.example", apiKey: "key" })).toEqual({ ...before, apiKey: "key" });
  expect(merged(before, { url: "https://two.example", apiKey: "key" })).toEqual({
    url: "https://two.example",
    apiKey: "key",
  });
});
