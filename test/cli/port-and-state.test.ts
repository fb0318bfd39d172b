import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { baseUrl, freePort } from "../../src/cli/local/port.ts";
import { prepareState } from "../../src/cli/local/state.ts";

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-state-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test.for([
  ["localhost", "http://localhost:8787"],
  ["127.0.0.1", "http://127.0.0.1:8787"],
  ["::1", "http://[::1]:8787"],
  ["0.0.0.0", "http://localhost:8787"],
  ["*", "http://localhost:8787"],
] as const)("a server on %s is reached at %s", ([ip, url]) => {
  expect(baseUrl(8787, ip)).toBe(url);
});

test("a port that another process uses, on any address of localhost, is refused", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  for (const ip of ["localhost", "127.0.0.1", "0.0.0.0", "*"]) {
    await expect(freePort(port, ip)).rejects.toThrow(`Port ${port} is in use`);
  }
});

test("port 0 is a free port", async () => {
  const port = await freePort(0, "localhost");
  expect(await freePort(port, "localhost")).toBe(port);
});

test("the data folder is created with its parents, and stays empty", async () => {
  const state = join(await newFolder(), "a", "b");
  expect(await prepareState(state)).toBe(true);
  expect(await readdir(state)).toEqual([]);
});

test("a folder with data is not new", async () => {
  const state = await newFolder();
  await mkdir(join(state, "v3"));
  expect(await prepareState(state)).toBe(false);
});

test("data that was open to other users is closed, and nothing beside it", async () => {
  const state = await newFolder();
  const folder = join(state, "v3", "do");
  await mkdir(folder, { recursive: true });
  const [data, other] = [join(folder, "chat.sqlite"), join(state, "notes.txt")];
  for (const path of [data, other]) await writeFile(path, "");
  for (const path of [join(state, "v3"), folder]) await chmod(path, 0o755);
  for (const path of [data, other]) await chmod(path, 0o644);
  await prepareState(state);
  const modes = await Promise.all(
    [join(state, "v3"), folder, data, other].map(async (path) => (await stat(path)).mode),
  );
  expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o700, 0o600, 0o644]);
});

test("a folder that can't be created is an error of one sentence", async () => {
  const file = join(await newFolder(), "file");
  await writeFile(file, "");
  await expect(prepareState(file)).rejects.toThrow(`Can't write to the data folder ${file}: ENOTDIR: not a directory.`);
  await expect(prepareState(join(file, "a"))).rejects.toThrow("ENOTDIR: not a directory.");
  await expect(prepareState("/proc/parley/a")).rejects.toThrow("ENOENT: no such file or directory.");
});
