import { join } from "node:path";
import * as z from "zod/mini";
import { writePrivate } from "./private-file.ts";

// These values are printed in shell commands, so the patterns also protect the shell from an edited file.
const demoSchema = z.object({
  organizationId: z.string().check(z.regex(/^org_\w+$/)),
  channelId: z.string().check(z.regex(/^chn_\w+$/)),
  chatId: z.string().check(z.regex(/^cht_\w+$/)),
  key: z.string().check(z.regex(/^ply_\w+$/)),
  /** Proves the identity of the demo's visitor, as a site does for its users. */
  visitorHash: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
});

/** The demo organization of `npm start`. */
export type Demo = z.output<typeof demoSchema>;

/** The path of the demo file, in the data folder. */
export function demoPath(state: string): string {
  return join(state, "parley-demo.json");
}

/** Parses the text of a demo file. Returns null if it is damaged. */
export function readDemo(text: string): Demo | null {
  try {
    return demoSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Writes the demo file. @throws CommandError */
export async function writeDemo(state: string, demo: Demo): Promise<void> {
  await writePrivate(demoPath(state), demoSchema.parse(demo));
}
