import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevServer } from "../support/world/dev-server.ts";

const WORKER = "test/support/world/moved-clock";
const ENTRY = 'main = "src/index.ts"';
const root = new URL("../..", import.meta.url).pathname;

/** A server of its own whose clock a test moves. */
export interface MovedServer {
  base: string;
  adminToken: string;
  /** Moves the clock on to a time. Alarms whose time has come ring. */
  moveTo(time: string): Promise<void>;
  end(): Promise<void>;
}

/** @param time what the clock says at first */
export async function beginMovedServer(time: string): Promise<MovedServer> {
  const server = await DevServer.begin({ prepare: useMovedClock });
  const moveTo = async (at: string) => {
    const { status } = await fetch(`${server.base}/moved-clock`, { method: "POST", body: String(Date.parse(at)) });
    if (status !== 200) throw new Error(`The clock did not move: ${status}`);
  };
  await moveTo(time);
  return { base: server.base, adminToken: server.secrets.ADMIN_TOKEN, moveTo, end: () => server.end() };
}

/** Makes a copy of the checkout run the Worker whose clock moves. */
async function useMovedClock(folder: string): Promise<void> {
  await cp(join(root, WORKER), join(folder, WORKER), { recursive: true });
  const path = join(folder, "wrangler.toml");
  const text = await readFile(path, "utf8");
  if (!text.includes(ENTRY)) throw new Error(`${path} has no ${ENTRY}`);
  await writeFile(path, text.replace(ENTRY, `main = "${WORKER}/index.ts"`));
}
