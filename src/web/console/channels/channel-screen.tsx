import { useEffect } from "preact/hooks";
import { listen } from "../inbox/live.ts";
import { route } from "../location.ts";
import { MOST, useGet, usePlace } from "../organization.ts";
import { Button, WarnButton } from "../parts/button.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Screen } from "../parts/screen.tsx";
import { forget, useResource } from "../resource.ts";
import { may } from "../session.ts";
import { ChannelDetails } from "./channel-details.tsx";
import type { ChannelProps } from "./channel-kinds.ts";
import { SettingsDialog } from "./settings-dialog.tsx";

/** One channel: whether it works, what waits, how it delivers, and what can be done with it. */
export function ChannelScreen({ id }: { id: string }) {
  const { to, api } = usePlace();
  const found = useGet("/channels/{id}", { path: { id } });
  const stats = useResource(may("stats:read") ? `get /stats ${id}` : null, async (signal) => {
    for (let page = 1; ; page++) {
      const { channels } = await api.GET("/stats", { query: { limit: MOST, page }, signal });
      const own = channels.find((one) => one.id === id);
      if (own || channels.length < MOST) return own ?? null;
    }
  });
  const shown = found.data?.channel;
  useEffect(
    () =>
      listen((event) => {
        if (event?.type !== "channel.health") return;
        found.reload();
        stats.reload();
      }),
    [id],
  );
  return (
    <Screen
      title={shown?.name ?? "Channel"}
      back={{ href: to("channels"), label: "Channels" }}
      actions={shown && may("channels:write") ? <Actions channel={shown} onChannel={found.set} /> : null}
    >
      <Loaded resource={found}>
        {({ channel }) => <ChannelDetails channel={channel} onChannel={found.set} stats={stats.data ?? null} />}
      </Loaded>
    </Screen>
  );
}

function Actions({ channel, onChannel }: ChannelProps) {
  const { api, to } = usePlace();
  const { id, name, kind } = channel;
  const remove = (
    <Confirm
      title={`Delete “${name}”?`}
      submit="Delete the channel"
      typed={name}
      done="Deleted"
      onSubmit={async () => {
        await api.DELETE("/channels/{id}", { path: { id } });
        forget("/channels");
        route(to("channels"));
      }}
    >
      <p>All its chats and messages are deleted. Waiting messages are not sent.</p>
      <p>If there are too many to delete at once, you are asked to try again.</p>
    </Confirm>
  );
  return (
    <>
      <Button href={to(`channels/${id}/set-up`)}>Set-up guide</Button>
      {kind === "web" && <Button href={to(`channels/${id}/chat`)}>Chat settings</Button>}
      <Button opens={<SettingsDialog channel={channel} onChannel={onChannel} />}>Change</Button>
      {may("chats:erase") && <WarnButton opens={remove}>Delete</WarnButton>}
    </>
  );
}
