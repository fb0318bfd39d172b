import type { FollowedEvent } from "../../../client/event.ts";
import { CommandError } from "../../command-error.ts";
import { command, flag, option } from "../command.ts";
import { FILTER_OPTIONS, feedOf, fromOf, typesOf } from "../event-feed.ts";
import { messageText } from "../message-text.ts";
import { valueAt } from "../output.ts";
import { printable } from "../table.ts";

/** The events of an organization, for clients with an API key. */
export const eventCommands = [
  command({
    name: "events",
    about: "List an organization's events, oldest first, or follow them",
    details: `The API key needs events:read. With --follow, runs until Ctrl-C, even if the connection is lost, and begins now unless
--from or --after says otherwise. With --follow --json, prints one line for each event.`,
    options: {
      follow: flag("Show each new event"),
      ...FILTER_OPTIONS,
      after: option("cursor", "Continue after this cursor"),
      from: option("oldest|now", "Where to begin without a cursor"),
      limit: option("n", "Without --follow: events on a page, 1 to 100; 20 by default"),
    },
    async run({ options: { follow, types, channel, after, limit, ...options }, service, out }) {
      const from = fromOf(options.from);
      if (after !== undefined && from !== undefined) throw new CommandError("Choose --after or --from, not both.", 2);
      if (follow) {
        if (limit !== undefined) throw new CommandError("--limit can't be used with --follow.", 2);
        // Ctrl-C is the normal end.
        for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(0));
        const start = { ...(after !== undefined && { after }), ...(from && { from }) };
        const filter = { ...typesOf(types), ...(channel !== undefined && { channel }) };
        for await (const event of feedOf(service, out, { ...start, ...filter })) {
          out.line(out.json ? JSON.stringify(event) : lineOf(event));
        }
        return;
      }
      const { body } = await service.asClient("GET", "/events", { query: { types, channel, after, from, limit } });
      out.list(body, "events", {
        TIME: "timestamp",
        ID: "id",
        TYPE: "type",
        CHAT: "chatId",
        NUMBER: "number",
        TEXT: "data.message.text",
      });
      if (!out.json)
        out.note(`${body.hasMore ? "For more" : "To continue later"}, add --after ${printable(String(body.cursor))}`);
    },
  }),
];

function lineOf(event: FollowedEvent): string {
  const { id, type, timestamp, chatId, data } = event;
  const time = new Date(timestamp).toTimeString().slice(0, 8);
  const message = valueAt(event, "data.message");
  const text = typeof message === "object" && message !== null ? messageText(message) : "";
  const status = typeof data.status === "string" ? `${data.status}  ` : "";
  return `${time}  ${id}  ${type.padEnd(16)}  ${chatId ?? "–"}  ${printable(status + text)}`.trimEnd();
}
