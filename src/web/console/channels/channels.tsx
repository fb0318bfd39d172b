import type { JSX } from "preact";
import { DESCRIPTIONS } from "../../../channels/descriptions.ts";
import { NotPermitted } from "../parts/not-permitted.tsx";
import { may } from "../session.ts";
import type { Kind } from "./channel-kinds.ts";
import { ChannelList } from "./channel-list.tsx";
import { ChannelScreen } from "./channel-screen.tsx";
import { NewChannel } from "./new-channel.tsx";
import { SetUp } from "./set-up.tsx";

interface ChannelsProps {
  /** A channel's id, or `new`. */
  id?: string;
  /** A kind, below `new`; `set-up`, below a channel. */
  part?: string;
}

/** All channels, one of them, or what sets one up. */
export function Channels({ id, part }: ChannelsProps): JSX.Element {
  if (id === undefined) return <ChannelList />;
  if (id !== "new") return part === "set-up" ? <SetUp key={id} id={id} /> : <ChannelScreen key={id} id={id} />;
  if (!may("channels:write")) return <NotPermitted permission="channels:write" title="New channel" />;
  return <NewChannel kind={part !== undefined && Object.hasOwn(DESCRIPTIONS, part) ? (part as Kind) : null} />;
}
