import { setTimeout as delay } from "node:timers/promises";
import { command, ORGANIZATION_OPTION, option } from "../command.ts";
import type { Output } from "../output.ts";
import { type Service, ServiceFault, Unreachable } from "../service.ts";

const MAX_FAILURES = 5;

/** Exports, for the operator or for a client with an API key that has `data:export`. */
export const exportCommands = [
  command({
    name: "export",
    about: "Export a chat, or everything of an organization, as lines of JSON",
    details: `Uses the operator's token if it is known, else the API key, which needs data:export. Continues after lost connections.
The last line has the type end. If it is missing, the command says how to continue: append with >> and --after.`,
    operands: ["[chat]"],
    options: {
      after: option("cursor", "Continue an export that was interrupted"),
      ...ORGANIZATION_OPTION,
    },
    async run({ operands: { chat }, options: { after, ...options }, service, out }) {
      const { adminToken, apiKey } = service.connection;
      const isOperator = adminToken !== null || apiKey === null;
      const ofOrganization = async () =>
        isOperator ? `/organizations/${await service.organization(options.organization)}/export` : "/export";
      const path = chat === undefined ? await ofOrganization() : `/chats/${chat}/export`;
      let cursor = after;
      for (let failures = 0; ; ) {
        const onCheckpoint = (next: string) => {
          cursor = next;
          failures = 0;
        };
        try {
          if (await copyLines(service, isOperator, path, cursor, out, onCheckpoint)) return;
        } catch (error) {
          const wait = secondsToWait(error, ++failures);
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
  service: Service,
  isOperator: boolean,
  path: string,
  after: string | undefined,
  out: Output,
  onCheckpoint: (next: string) => void,
): Promise<boolean> {
  let waiting: string[] = [];
  for await (const line of service.lines(isOperator, path, { after })) {
    const [, type] = /^\{"type":"(\w+)"/.exec(line) ?? [];
    if (type !== "checkpoint" && type !== "end") {
      waiting.push(line);
      continue;
    }
    for (const each of waiting) out.line(each);
    waiting = [];
    const { next } = JSON.parse(line) as { next: string | null };
    if (type === "end" && next === null) out.line(line);
    if (next !== null) onCheckpoint(next);
    if (type === "end") return next === null;
  }
  throw new Unreachable(service.connection.url, "the response was cut", "Try again.");
}

/** How long to wait before the next try, in seconds; null if a retry can't help. */
function secondsToWait(error: unknown, failures: number): number | null {
  if (error instanceof Unreachable) return failures;
  if (!(error instanceof ServiceFault) || (error.status !== 429 && error.status < 500)) return null;
  return error.retryAfter ?? failures;
}
