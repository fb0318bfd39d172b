import { join } from "node:path";
import { type Demo, demoPath } from "../demo-file.ts";
import { curlLines } from "./demo.ts";

/** The addresses and files of a running server. */
export interface Introduction {
  /** The server's address, without a slash at the end. */
  base: string;
  root: string;
  /** The folder of the data. */
  state: string;
  /** Null if the demo could not be created. */
  demo: Demo | null;
  /** The address of the demo's web chat, if the server has its page. */
  webChat: string | null;
  /** Opens the console signed in, once. Null without an operator's token. */
  consoleLink: string | null;
  verbose: boolean;
}

/** The text that `npm start` prints: addresses, commands to paste, and paths. */
export function introduction({ base, root, state, demo, webChat, consoleLink, verbose }: Introduction): string {
  const addresses = [
    ...(consoleLink ? [["Console", consoleLink]] : []),
    ...(webChat ? [["Web chat", webChat]] : []),
    ["API docs", `${base}/docs`],
  ];
  const files = [
    ...(demo ? [["API key", demoPath(state)]] : []),
    ["Data", state],
    ["Secrets", join(root, ".dev.vars")],
    ...(verbose ? [] : [["Log", "npm start -- --verbose"]]),
  ];
  const blocks = [`Parley is running at ${base}`, table(addresses), ...commands(base, demo), table(files)];
  return `\n${[...blocks, "Press Ctrl-C to stop."].join("\n\n")}\n`;
}

function commands(base: string, demo: Demo | null): string[] {
  if (!demo) return [];
  const { list, send } = curlLines(base, demo);
  return [`Send a message to the web chat:\n${send}`, `List its messages:\n${list}`];
}

function table(rows: string[][]): string {
  return rows.map(([name = "", value]) => `${name.padEnd(10)}${value}`).join("\n");
}
