import { useEffect, useRef } from "preact/hooks";
import { connection, listen } from "../inbox/live.ts";
import { currentPath } from "../location.ts";
import { MOST, useAll, useGet, usePlace } from "../organization.ts";
import { may } from "../session.ts";
import { countUnread } from "../unread.ts";
import { mayManage } from "../webhooks/webhook-list.tsx";
import { shortUrl } from "../webhooks/webhook-state.ts";
import { notify, show } from "./notify.ts";

const MOST_SHOWN = 2;

/** Above the screen: what is broken, for those who can mend it. While it is there, the person gets notifications. */
export function Banners() {
  const place = usePlace();
  const { organization, to } = place;
  /** What events of the organization were about, until each has its notification. */
  const untold = useRef(new Set<unknown>());
  const channels = useAll(may("channels:write") ? "channels" : null);
  const webhooks = useGet(mayManage() ? "/webhooks" : null, { query: { limit: MOST } });
  const troubles = [
    ...(channels.data ?? [])
      .filter(({ health }) => health.state === "broken")
      .map(({ id, name }) => ({ id, name, path: to(`channels/${id}`), text: " is broken" })),
    ...(webhooks.data?.webhooks ?? [])
      .filter(({ state, reason }) => state === "failing" || reason === "failing" || reason === "gone")
      .map(({ id, url, state }) => ({
        id,
        name: `Webhook ${shortUrl(url)}`,
        path: to(`webhooks/${id}`),
        text: ` is ${state}`,
      })),
  ];
  const reload = () => {
    channels.reload();
    webhooks.reload();
  };
  useEffect(() => {
    countUnread(organization.id);
    return listen((event, isLeading) => {
      notify(place, event, isLeading);
      if (event?.chatId || connection.value !== "live") return;
      const id = event?.channelId ?? event?.data.webhookId;
      if (isLeading && id) untold.current.add(id);
      reload();
    });
  }, [organization.id]);
  // The person may just have mended it.
  useEffect(() => {
    if (troubles[0]) reload();
  }, [currentPath.value]);
  useEffect(() => {
    for (const { id, name, text, path } of troubles) {
      if (untold.current.delete(id)) show(id, name + text, organization.name, path);
    }
  });
  return (
    troubles[0] && (
      <p class="banner tone-bad" role="status">
        {troubles.slice(0, MOST_SHOWN).map(({ id, path, name, text }) => (
          <span key={id}>
            <a href={path}>
              <bdi>{name}</bdi>
            </a>
            {text}.{" "}
          </span>
        ))}
        {troubles.length > MOST_SHOWN && `And ${troubles.length - MOST_SHOWN} more.`}
      </p>
    )
  );
}
