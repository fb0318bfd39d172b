import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { inject, vi } from "vitest";

/** What became of the start of the service. */
export type Started = { base: string; adminToken: string } | { error: string };

/** Longer than the start of a server may take; in milliseconds. */
const PATIENCE_MS = 600_000;

async function started(): Promise<Exclude<Started, { error: string }>> {
  const file = inject("serverFile");
  await vi.waitUntil(() => existsSync(file), { timeout: PATIENCE_MS, interval: 50 });
  const answer = JSON.parse(await readFile(file, "utf8")) as Started;
  if ("error" in answer) throw new Error(answer.error);
  return answer;
}

/** The service that all browser tests share. It starts beside the first tests. */
export const { base, adminToken } = await started();
