import { DESCRIPTIONS } from "../../../model/channel-kind.ts";
import type { ScreenParts } from "../location.ts";
import { NotPermitted } from "../parts/screen.tsx";
import { may } from "../session.ts";
import type { Kind } from "./channel-kinds.ts";
import { ChannelList } from "./channel-list.tsx";
import { ChannelScreen } from "./channel-screen.tsx";
import { ChatSettings } from "./chat-settings.tsx";
import { NewChannel } from "./new-channel.tsx";
import { SetUp } from "./set-up.tsx";

/**
 * All channels, one of them, or what sets one up.
 * @param id `new` for another one
 * @param part a kind, below `new`; `set-up` or `chat`, below a channel
 */
export function Channels({ id, part }: ScreenParts) {
  if (id === undefined) return <ChannelList />;
  if (id !== "new" && part === "set-up") return <SetUp key={id} id={id} />;
  if (id !== "new" && part !== "chat") return <ChannelScreen key={id} id={id} />;
  if (!may("channels:write"))
    return <NotPermitted permission="channels:write" title={id === "new" ? "New channel" : "Chat settings"} />;
  if (id !== "new") return <ChatSettings key={id} id={id} />;
  return <NewChannel kind={part !== undefined && Object.hasOwn(DESCRIPTIONS, part) ? (part as Kind) : null} />;
}
