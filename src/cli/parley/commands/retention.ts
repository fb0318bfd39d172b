import { CommandError } from "../../command-error.ts";
import { wholeNumber } from "../arguments.ts";
import { command, ORGANIZATION_OPTION, option, PAGE_OPTIONS, YES_OPTION } from "../command.ts";
import { confirm } from "../deletion.ts";
import { collection } from "../resource.ts";
import type { JsonObject } from "../service.ts";

const CHANNELS = { name: "channels", scope: "either" } as const;

/** How long channels keep their messages. */
export const retentionCommands = [
  command({
    name: "retention",
    about: "Show how many days each channel keeps its messages, or change it for one channel",
    details: `Without a channel, lists the channels. Uses the operator's token if it is known, else the API key, which needs
channels:read, and for --days channels:write and chats:erase.
--days off keeps all messages. With a number, older messages are deleted, those that are stored already too.`,
    operands: ["[channel]"],
    options: {
      days: option("n|off", "Delete the channel's messages when they reach this age, 1 to 3650"),
      ...YES_OPTION,
      ...PAGE_OPTIONS,
      ...ORGANIZATION_OPTION,
    },
    async run({ operands: { channel }, options: { days, yes, page, limit, organization }, service, out }) {
      if (channel === undefined) {
        if (days !== undefined)
          throw new CommandError("--days needs a channel: parley retention <channel> --days 90", 2);
        const [, call] = await collection(CHANNELS, service, { organization });
        const { body } = await call("GET", { query: { page, limit } });
        out.list(body, "channels", { ID: "id", KIND: "kind", NAME: "name", DAYS: "retentionDays" });
        return;
      }
      const retentionDays = days === undefined ? undefined : daysOf(days);
      if (retentionDays) {
        await confirm(`delete the messages of channel ${channel} that are older than ${retentionDays} days`, yes);
      }
      const { body } =
        retentionDays === undefined
          ? await service.asOperatorOrClient("GET", `/channels/${channel}`)
          : await service.asOperatorOrClient("PATCH", `/channels/${channel}`, {
              body: { retentionDays },
              optionOf: { retentionDays: "--days" },
            });
      const { id, kind, name, retentionDays: kept } = body.channel as JsonObject;
      out.record(body, { id, kind, name, retentionDays: kept });
    },
  }),
];

/** Null: all messages are kept. */
function daysOf(given: string): number | null {
  return given === "off" ? null : wholeNumber(given, "days");
}
