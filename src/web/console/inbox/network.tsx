import { IN_CHATS } from "../../../model/in-chats.ts";
import type { Chat } from "../api.ts";
import { Icon } from "../parts/icon.tsx";

/** The network of a chat as a picture, with its name for screen readers and for the pointer. */
export function Network({ channel: { kind } }: Pick<Chat, "channel">) {
  const { icon, label } = IN_CHATS[kind];
  return (
    <span class="network" title={label}>
      <Icon name={icon} />
      <span class="hidden">{label}</span>
    </span>
  );
}
