import type { ChannelKind } from "../../../model/channel-kind.ts";
import { IN_CHATS } from "../../../model/in-chats.ts";
import type { Message } from "../api.ts";

const COST: Record<string, string> = { true: "Charged", false: "Free" };

/** Where a message was written, if no client sent it or the contact wrote it to the network's own agent. */
export function elsewhere({ origin, standby }: Message, kind: ChannelKind): string | undefined {
  if (origin === "away") return "Away message";
  const place = origin ?? (standby && "standby");
  return place && IN_CHATS[kind].elsewhere?.[place];
}

/** What networks report of a message beside its text, each as a few words. */
export function marksOf(message: Message, kind: ChannelKind): string[] {
  const { voice, forwarded, price } = message;
  return [
    elsewhere(message, kind) ?? "",
    voice === undefined ? "" : voice ? "Voice note" : "Sent as audio",
    forwarded === undefined ? "" : forwarded === "many" ? "Forwarded many times" : "Forwarded",
    price ? `${COST[String(price.billable)] ?? "Price"}: ${price.category.replaceAll("_", " ")}` : "",
  ].filter((mark) => mark !== "");
}
