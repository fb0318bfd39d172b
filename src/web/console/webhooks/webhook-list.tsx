import { number, plural } from "../format.ts";
import { route } from "../location.ts";
import { usePlace } from "../organization.ts";
import { usePages } from "../pages.ts";
import { Badge } from "../parts/badge.tsx";
import { Copyable } from "../parts/copy.tsx";
import { ListScreen, RowMain } from "../parts/list-screen.tsx";
import { Time } from "../parts/time.tsx";
import { may } from "../session.ts";
import { WebhookDialog } from "./webhook-form.tsx";
import { STATES, shortUrl, type Webhook } from "./webhook-state.ts";

export function WebhookList() {
  const { organization, api, to } = usePlace();
  const pages = usePages(`list /webhooks ${organization.id}`, "after", async (query, signal) => {
    const { webhooks, pagination } = await api.GET("/webhooks", { query, signal });
    return { rows: webhooks, pagination };
  });
  const add = <WebhookDialog shown={null} onWebhook={({ webhook }) => route(to(`webhooks/${webhook.id}`))} />;
  return (
    <ListScreen
      title="Webhooks"
      intro="Parley calls these addresses with each event."
      icon="webhook"
      pages={pages}
      create={mayManage() ? { label: "New webhook", opens: add } : null}
      empty={{
        title: "No webhook yet",
        text: "Your program gets each message within a second.",
        command: "npx parley webhooks create --url https://shop.example/parley",
      }}
    >
      {(webhook) => <WebhookRow key={webhook.id} webhook={webhook} />}
    </ListScreen>
  );
}

/** A webhook reads all events, so whoever manages it needs to be allowed to. */
export function mayManage(): boolean {
  return may("webhooks:write") && may("events:read");
}

function WebhookRow({ webhook }: { webhook: Webhook }) {
  const { to } = usePlace();
  const { id, url, description, state, disablesAt, waitingChats, failed, lastSuccessAt } = webhook;
  return (
    <li class={state === "disabled" ? "row row-over" : "row"}>
      <RowMain name={shortUrl(url)} href={to(`webhooks/${id}`)} mark={<Badge {...STATES[state]} />}>
        {description !== null && (
          <p class="row-detail">
            <bdi>{description}</bdi>
          </p>
        )}
        <p class="row-detail">
          <Copyable text={id} />
        </p>
        {disablesAt !== null && (
          <p class="row-detail failed">
            It will be disabled <Time at={disablesAt} future />.
          </p>
        )}
      </RowMain>
      <div class="row-aside">
        {lastSuccessAt !== null && (
          <span>
            <span class="quiet">Last success</span> <Time at={lastSuccessAt} />
          </span>
        )}
        {waitingChats > 0 && <span class="warn">{plural(waitingChats, "chat")} waiting</span>}
        {failed > 0 && <span class="failed">{number(failed)} given up</span>}
      </div>
    </li>
  );
}
