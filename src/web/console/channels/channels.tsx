import type { JSX } from "preact";
import { Permitted } from "../parts/permitted.tsx";
import { KIND_NAMES } from "./channel-kinds.ts";
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
  if (id === "new") {
    return (
      <Permitted permission="channels:write" title="New channel">
        <NewChannel kind={KIND_NAMES.find((kind) => kind === part) ?? null} />
      </Permitted>
    );
  }
  return (
    <Permitted permission="channels:read" title="Channels">
      {id === undefined && <ChannelList />}
      {id !== undefined && (part === "set-up" ? <SetUp key={id} id={id} /> : <ChannelScreen key={id} id={id} />)}
    </Permitted>
  );
}
