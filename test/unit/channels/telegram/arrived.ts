import { readUpdate } from "../../../../src/channels/telegram/update.ts";
import { TOKEN } from "./network.ts";

export const ann = { id: 42, is_bot: false, first_name: "Ann", last_name: "Lee" } as const;
export const withAnn = { id: 42, type: "private", first_name: "Ann", last_name: "Lee" } as const;
export const group = { id: -1_001_234, type: "supergroup", title: "The Team" } as const;

/** What an update with a message of these fields makes. */
export function arrived(fields: object) {
  const message = { message_id: 7, date: 1_700_000_000, chat: withAnn, from: ann, ...fields };
  return readUpdate({ update_id: 1, message }, TOKEN);
}

/** The item of a message with these fields. */
export function came(fields: object) {
  return arrived(fields).items[0]?.item;
}
