import type { JSX } from "preact";
import { Permitted } from "../parts/permitted.tsx";
import { LineScreen } from "./line-screen.tsx";
import { WebhookList } from "./webhook-list.tsx";
import { WebhookScreen } from "./webhook-screen.tsx";

/** All webhooks, one of them, or what a chat sends to it. */
export function Webhooks({ id, chat }: { id?: string; chat?: string }): JSX.Element {
  return (
    <Permitted permission="webhooks:read" title="Webhooks">
      {id === undefined && <WebhookList />}
      {id !== undefined && chat === undefined && <WebhookScreen key={id} id={id} />}
      {id !== undefined && chat !== undefined && <LineScreen key={chat} id={id} chatId={chat} />}
    </Permitted>
  );
}
