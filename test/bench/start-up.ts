import { rm } from "node:fs/promises";
import { wrangler } from "./build.ts";

/** How long the Worker's script is at work before its first request, as wrangler tells it: milliseconds, or null. */
export async function startUpTime(profile: string): Promise<number | null> {
  const told = await wrangler("check", "startup", "--outfile", profile, "--args=--minify");
  await rm(profile, { force: true });
  const [, active] = /Active: ([\d.]+) ms/.exec(told) ?? [];
  return active === undefined ? null : Number(active);
}
