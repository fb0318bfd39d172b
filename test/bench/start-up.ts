import { rm } from "node:fs/promises";
import { wrangler } from "./build.ts";

/** Milliseconds that the Worker's script runs before its first request, by wrangler. Null if wrangler prints none. */
export async function startUpTime(profile: string): Promise<number | null> {
  const told = await wrangler("check", "startup", "--outfile", profile);
  await rm(profile, { force: true });
  const [, active] = /Active: ([\d.]+) ms/.exec(told) ?? [];
  return active === undefined ? null : Number(active);
}
