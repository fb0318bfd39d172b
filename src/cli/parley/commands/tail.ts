import { setTimeout as delay } from "node:timers/promises";
import { CommandError } from "../../command-error.ts";
import { wholeNumber } from "../arguments.ts";
import { command, option } from "../command.ts";
import { type Followed, Follower, secondsOf, waitAfter } from "../follow.ts";
import { messageText } from "../message-text.ts";
import { printable } from "../table.ts";

const MAX_LINES = 100;

/** Follows a chat. */
export const tailCommands = [
  command({
    name: "tail",
    about: "Follow a chat: show its last messages, then each new one",
    details: `Runs until Ctrl-C, even if the connection is lost or the rate limit is exceeded. With --json, prints one line for
each message. Each poll counts as a request of the API key.`,
    operands: ["chat"],
    options: {
      lines: option("n", "How many earlier messages to show first, 0 to 100; 10 by default"),
      interval: option("seconds", "The time between two polls; 2 by default"),
    },
    async run({ operands, options, service, out }) {
      const lines = wholeNumber(options.lines ?? "10", "lines");
      if (lines > MAX_LINES) throw new CommandError(`--lines must be at most ${MAX_LINES}.`, 2);
      const interval = secondsOf("interval", options.interval ?? "2") * 1_000;
      // Ctrl-C is the normal end.
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(0));
      const follower = new Follower(service, operands.chat);
      const show = (message: Followed) => out.line(out.json ? JSON.stringify(message) : lineOf(message));

      for (const message of await follower.begin(lines)) show(message);
      for (let failures = 0; ; ) {
        try {
          const { messages, hasMore } = await follower.next();
          if (failures > 0) out.note("The service answers again.");
          failures = 0;
          for (const message of messages) show(message);
          if (!hasMore) await delay(interval);
        } catch (error) {
          const wait = waitAfter(error, ++failures, Math.random());
          if (failures === 1) out.note(`${(error as Error).message} Trying again.`);
          await delay(wait);
        }
      }
    },
  }),
];

function lineOf(message: Followed): string {
  const { id, createdAt, direction, status } = message;
  const time = new Date(String(createdAt)).toTimeString().slice(0, 8);
  const way = direction === "INBOUND" ? "<" : ">";
  return `${time}  ${id}  ${way} ${String(status).padEnd(9)}  ${printable(messageText(message))}`;
}
