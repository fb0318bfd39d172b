import { setTimeout as delay } from "node:timers/promises";
import { command, ORGANIZATION_OPTION, option } from "../command.ts";
import { downloadWaitSeconds } from "../download.ts";
import { ExportedFiles } from "../export-files.ts";
import type { Output } from "../output.ts";
import { Unreachable } from "../service.ts";

const MAX_FAILURES = 5;

/** Exports, for the operator or for a client with an API key that has `data:export`. */
export const exportCommands = [
  command({
    name: "export",
    about: "Export a chat, or a whole organization, as lines of JSON",
    details: `Uses the operator's token if it is known, else the API key, which needs data:export. Continues after lost connections.
The last line has the type end. If it is missing, the command says how to continue: append with >> and --after.
--files needs an API key with messages:read too. Each file is written to <folder>/<chat>/<message>-<name> before the
line of its message is printed. A file that is there already is not downloaded again. If a file no longer exists, the
command says so and continues.`,
    operands: ["[chat]"],
    options: {
      after: option("cursor", "Continue an export that was interrupted"),
      files: option("folder", "Download the messages' files into this folder"),
      ...ORGANIZATION_OPTION,
    },
    async run({ operands: { chat }, options: { after, files: folder, ...options }, service, out }) {
      const { adminToken, apiKey } = service.connection;
      const isOperator = adminToken !== null || apiKey === null;
      const ofOrganization = async () =>
        isOperator ? `/organizations/${await service.organization(options.organization)}/export` : "/export";
      const path = chat === undefined ? await ofOrganization() : `/chats/${chat}/export`;
      const files = folder === undefined ? null : new ExportedFiles(service, folder, out);
      let cursor = after;
      for (let failures = 0; ; ) {
        const onCheckpoint = (next: string) => {
          cursor = next;
          failures = 0;
        };
        try {
          const source = service.lines(isOperator, path, { after: cursor });
          if (await copyLines({ source, url: service.connection.url }, out, files, onCheckpoint)) return files?.end();
        } catch (error) {
          const wait = downloadWaitSeconds(error, ++failures);
          if (wait === null || failures > MAX_FAILURES) {
            if (cursor !== undefined) out.note(`To continue, add --after ${cursor}`);
            throw error;
          }
          await delay(wait * 1_000);
        }
      }
    },
  }),
];

/**
 * Prints the lines of one response. Lines are printed when their checkpoint has come, so that none is printed twice.
 * @returns whether the export is complete
 * @throws Unreachable if the response was cut; ServiceFault
 */
async function copyLines(
  { source, url }: { source: AsyncIterable<string>; url: string },
  out: Output,
  files: ExportedFiles | null,
  onCheckpoint: (next: string) => void,
): Promise<boolean> {
  let waiting: string[] = [];
  for await (const line of source) {
    const [, type] = /^\{"type":"(\w+)"/.exec(line) ?? [];
    if (type !== "checkpoint" && type !== "end") {
      waiting.push(line);
      continue;
    }
    for (const each of waiting) {
      await files?.take(each);
      out.line(each);
    }
    waiting = [];
    const { next } = JSON.parse(line) as { next: string | null };
    if (type === "end" && next === null) out.line(line);
    if (next !== null) onCheckpoint(next);
    if (type === "end") return next === null;
  }
  throw new Unreachable(url, "the response was cut", "Try again.");
}
