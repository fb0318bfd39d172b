import { ParleyError } from "../../client/error.ts";
import type { FollowedEvent } from "../../client/event.ts";
import type { EventOptions } from "../../client/follow-events.ts";
import { Parley } from "../../client/parley.ts";
import { CommandError } from "../command-error.ts";
import { option } from "./command.ts";
import type { Output } from "./output.ts";
import type { Service } from "./service.ts";
import { printable } from "./table.ts";

/** The options that choose events. */
export const FILTER_OPTIONS = {
  types: option("list", "Only these types, separated by commas, or families such as message.*"),
  channel: option("chn_…", "Only the events of one channel"),
} as const;

/**
 * Follows the events of the API key's organization forever. Prints a note if the connection is lost, and when it is back.
 * @throws CommandError if a retry can't help
 */
export async function* feedOf(
  service: Service,
  out: Output,
  options: Pick<EventOptions, "after" | "from" | "types" | "channel">,
): AsyncGenerator<FollowedEvent, void, undefined> {
  const key = service.requireApiKey();
  const parley = new Parley({ url: service.connection.url, apiKey: key.value });
  let isLost = false;
  const onConnection: EventOptions["onConnection"] = (state) => {
    if (state.open && isLost) out.note("The service answers again.");
    if (!state.open && !isLost) out.note(`${printable(state.error.message)}. Trying again.`);
    isLost = !state.open;
  };
  try {
    yield* parley.events({ ...options, onConnection });
  } catch (error) {
    throw error instanceof ParleyError ? commandErrorOf(error, key.from) : error;
  }
}

/** Parses the value of `--types`. */
export function typesOf(text: string | undefined): { types?: string[] } {
  return text === undefined ? {} : { types: text.split(",").map((type) => type.trim()) };
}

/** Checks the value of `--from`. @throws CommandError with exit code 2 */
export function fromOf(text: string | undefined): "oldest" | "now" | undefined {
  if (text === undefined || text === "oldest" || text === "now") return text;
  throw new CommandError("--from must be oldest or now.", 2);
}

function commandErrorOf({ message, code, status, requestId, errors }: ParleyError, from: string): CommandError {
  const names = [code, ...(requestId ? [`request ${requestId}`] : [])].map(printable).join(", ");
  const whose = status === 401 ? ` The secret comes from ${from}.` : "";
  const advice = code === "cursor_expired" ? " Start again with --from oldest or --from now." : "";
  const lines = errors.map((fault) => `\n  ${printable(`${fault.path}: ${fault.message}`)}`);
  return new CommandError(`${printable(message)} (${names}).${whose}${advice}${lines.join("")}`);
}
