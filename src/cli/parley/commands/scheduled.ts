import { CommandError } from "../../command-error.ts";
import { wholeNumber } from "../arguments.ts";
import { command, flag, option, YES_OPTION } from "../command.ts";
import { confirmPast, instantOf } from "../instant.ts";
import { listMessages } from "../message-text.ts";

export const TIME_OPTIONS = {
  at: option("time", 'When to send it: "in 2 hours", "tomorrow at 9:00" or RFC 3339'),
  until: option("time", "Don't try to deliver it after this time"),
  yes: { ...YES_OPTION.yes, about: "If --at has passed, send it at once without asking" },
} as const;

export const TIME_FIELDS = { scheduledAt: "--at", expiresAt: "--until" };

type Times = { at?: string | undefined; until?: string | undefined; yes?: boolean | undefined };

/** The times of a request. Asks before a past one. @throws CommandError if a text is not a time */
export async function timesOf({ at, until, yes }: Times) {
  const times = { scheduledAt: at && instantOf(at, "at"), expiresAt: until && instantOf(until, "until") };
  await confirmPast(times.scheduledAt, yes);
  return times;
}

/** What else can be done with a message, for clients with an API key. */
export const scheduledCommands = [
  command({
    name: "scheduled",
    about: "List a chat's scheduled messages, soonest first",
    operands: ["chat"],
    options: {
      after: option("cursor", "Continue a list: the cursor of its last page"),
      limit: option("n", "Rows on a page, 1 to 100; 20 by default"),
    },
    async run({ operands, options: { after, limit }, service, out }) {
      const { body } = await service.asClient("GET", `/chats/${operands.chat}/scheduled`, { query: { after, limit } });
      listMessages(out, body, { ID: "id", WHEN: "scheduledAt", UNTIL: "expiresAt", TEXT: "text" });
      const { cursor } = body.pagination as { cursor: string | null };
      if (cursor !== null && !out.json) out.note(`More: --after ${cursor}`);
    },
  }),
  command({
    name: "reschedule",
    about: "Change when a scheduled message is sent, or when it expires",
    details: `"now" as --at sends it at once. "never" as --until removes its end.`,
    operands: ["chat", "message"],
    options: TIME_OPTIONS,
    async run({ operands, options: { at, until, yes }, service, out }) {
      if (at === undefined && until === undefined)
        throw new CommandError("Nothing to change: give --at or --until.", 2);
      const scheduledAt = at === undefined || at === "now" ? null : instantOf(at, "at");
      await confirmPast(scheduledAt ?? undefined, yes);
      const { body } = await service.asClient("PATCH", `/chats/${operands.chat}/messages/${operands.message}`, {
        body: {
          ...(at !== undefined && { scheduledAt }),
          ...(until !== undefined && { expiresAt: until === "never" ? null : instantOf(until, "until") }),
        },
        optionOf: TIME_FIELDS,
      });
      out.record(body, body.message);
    },
  }),
  command({
    name: "cancel",
    about: "Cancel a message that is scheduled or still waiting",
    operands: ["chat", "message"],
    call: ({ operands: { chat, message }, service }) =>
      service.asClient("POST", `/chats/${chat}/messages/${message}/cancel`, { body: {} }),
    shows: "message",
  }),
  command({
    name: "resend",
    about: "Send a failed message again, as a new message",
    details: "A failed message is sent again once. A repeated command shows the same new message.",
    operands: ["chat", "message"],
    options: {
      ...TIME_OPTIONS,
      sender: option("mbr_…", "The member who sends it; by default the one of the failed message"),
      "if-seq": option("n", "Send only if the newest message of the chat has this number"),
      "if-open": flag("Send only while the network takes free text"),
    },
    call: async ({ operands, options, service }) =>
      service.asClient("POST", `/chats/${operands.chat}/messages/${operands.message}/resend`, {
        body: {
          ...(await timesOf(options)),
          senderId: options.sender,
          ifSeq: options["if-seq"] && wholeNumber(options["if-seq"], "if-seq"),
          ifOpen: options["if-open"],
        },
        optionOf: { ...TIME_FIELDS, senderId: "--sender", ifSeq: "--if-seq", ifOpen: "--if-open" },
      }),
    shows: "message",
  }),
  command({
    name: "attempts",
    about: "List the attempts to deliver a message, oldest first",
    operands: ["chat", "message"],
    async run({ operands, service, out }) {
      const path = `/chats/${operands.chat}/messages/${operands.message}/attempts`;
      const { body } = await service.asClient("GET", path);
      out.list(body, "attempts", {
        NUMBER: "number",
        WHEN: "startedAt",
        MS: "durationMs",
        OUTCOME: "outcome",
        CODE: "code",
        MESSAGE: "message",
      });
      if (out.json) return;
      const dropped = Number(body.dropped);
      if (dropped > 0) out.note(`${dropped} attempts between the first and the last ones are not kept.`);
      if (typeof body.nextAttemptAt === "string") out.note(`Next attempt: ${body.nextAttemptAt}`);
    },
  }),
];
