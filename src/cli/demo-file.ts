import { join } from "node:path";
import { writePrivate } from "./private-file.ts";

/**
 * The demo file's fields, each with its form. Values are printed in shell commands, so the forms also protect the shell
 * from an edited file. `visitorHash` proves the identity of the demo's visitor, as a site does for its users.
 */
const FORMS = {
  organizationId: /^org_\w+$/,
  channelId: /^chn_\w+$/,
  chatId: /^cht_\w+$/,
  key: /^ply_\w+$/,
  visitorHash: /^[0-9a-f]{64}$/,
} as const;

/** The demo organization of `npm start`. */
export type Demo = Record<keyof typeof FORMS, string>;

/** The path of the demo file, in the data folder. */
export function demoPath(state: string): string {
  return join(state, "parley-demo.json");
}

/** Parses the text of a demo file. Returns null if it is damaged. */
export function readDemo(text: string): Demo | null {
  try {
    return demoOf(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Writes the demo file. @throws CommandError */
export async function writeDemo(state: string, demo: Demo): Promise<void> {
  await writePrivate(demoPath(state), demoOf(demo));
}

/** The fields of a demo, and no others. @throws TypeError if one is missing or has another form */
function demoOf(value: Record<string, unknown>): Demo {
  const fields = Object.entries(FORMS).map(([name, form]) => {
    const { [name]: text } = value;
    if (typeof text !== "string" || !form.test(text)) throw new TypeError(`${name} is not as the demo file has it`);
    return [name, text];
  });
  return Object.fromEntries(fields) as Demo;
}
