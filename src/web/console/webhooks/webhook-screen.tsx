import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { duration, number } from "../format.ts";
import { listen } from "../inbox/live.ts";
import { route } from "../location.ts";
import { useChannels, useGet, usePlace } from "../organization.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Select } from "../parts/controls.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Confirm, FormDialog } from "../parts/dialog.tsx";
import { Box, Facts } from "../parts/facts.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { Screen } from "../parts/screen.tsx";
import { Time } from "../parts/time.tsx";
import { sayError } from "../parts/toast.tsx";
import { forget } from "../resource.ts";
import { may } from "../session.ts";
import { Attempts } from "./attempts.tsx";
import { ReplayDialog } from "./replay-dialog.tsx";
import { SigningSecret, WebhookDialog } from "./webhook-form.tsx";
import { mayManage } from "./webhook-list.tsx";
import { type Attempt, OUTCOMES, REASONS, STATES, shortUrl, type Webhook } from "./webhook-state.ts";

/** One webhook: its state, its calls, and what can be done with it. */
export function WebhookScreen({ id }: { id: string }) {
  const { to } = usePlace();
  const turn = useSignal(0);
  const found = useGet("/webhooks/{id}", { path: { id } });
  const shown = found.data?.webhook;
  const reload = () => {
    turn.value++;
    found.reload();
  };
  useEffect(() => listen((event) => event?.type.startsWith("webhook.") && reload()), [id]);
  const ping = useSignal<Attempt | "waiting" | null>(null);
  return (
    <Screen
      title={shown ? shortUrl(shown.url) : "Webhook"}
      intro={shown?.description ? <bdi>{shown.description}</bdi> : undefined}
      back={{ href: to("webhooks"), label: "Webhooks" }}
      actions={
        shown && mayManage() ? (
          <Actions
            shown={shown}
            onWebhook={found.set}
            onChanged={reload}
            onPing={(attempt) => (ping.value = attempt)}
          />
        ) : null
      }
    >
      {ping.value && (
        <div class="box" role="status">
          {ping.value === "waiting" ? (
            <p class="waiting">Waiting for the answer…</p>
          ) : (
            <p>
              <Badge {...OUTCOMES[ping.value.outcome]} /> The ping took {duration(ping.value.durationMs)}:{" "}
              {ping.value.message}
            </p>
          )}
        </div>
      )}
      <Loaded resource={found}>
        {({ webhook }) => (
          <>
            <Details shown={webhook} />
            <Attempts id={id} turn={turn.value} onReload={reload} />
          </>
        )}
      </Loaded>
    </Screen>
  );
}

interface ActionsProps {
  shown: Webhook;
  onWebhook: (changed: { webhook: Webhook }) => void;
  onChanged: () => void;
  onPing: (attempt: Attempt | "waiting" | null) => void;
}

function Actions({ shown, onWebhook, onChanged, onPing }: ActionsProps) {
  const { api, to } = usePlace();
  const { id, state, url } = shown;
  const path = { id };
  const isDisabled = state === "disabled";
  const ping = async () => {
    onPing("waiting");
    try {
      onPing((await api.POST("/webhooks/{id}/ping", { path, body: {} })).attempt);
      onChanged();
    } catch (error) {
      onPing(null);
      sayError(error);
    }
  };
  const retry = async () => {
    onWebhook(await api.POST("/webhooks/{id}/retry", { path }));
    onChanged();
  };
  const disable = (
    <Confirm
      title="Disable this webhook?"
      submit="Disable"
      done="Disabled"
      onSubmit={async () => onWebhook(await api.POST("/webhooks/{id}/disable", { path }))}
    >
      <p>Events wait for up to 30 days, until you enable it.</p>
    </Confirm>
  );
  const enable = (
    <FormDialog
      title="Enable this webhook"
      submit="Enable"
      done="Enabled"
      onSubmit={async ({ text }) => {
        const body = { from: text("from") as "pending" | "now" };
        onWebhook(await api.POST("/webhooks/{id}/enable", { path, body }));
      }}
    >
      <Select
        label="It continues"
        name="from"
        options={{ pending: "with the pending events", now: "with new events, and drops the pending ones" }}
      />
    </FormDialog>
  );
  const rotate = (
    <Confirm
      title="Rotate the signing secret?"
      submit="Rotate"
      onSubmit={async () => {
        const { webhook, secret } = await api.POST("/webhooks/{id}/rotate", { path, body: {} });
        onWebhook({ webhook });
        openDialog(<SigningSecret secret={secret} />);
      }}
    >
      <p>For a day each call has two signatures, so that your program can switch without a gap.</p>
    </Confirm>
  );
  const remove = (
    <Confirm
      title="Delete this webhook?"
      submit="Delete the webhook"
      typed={shortUrl(url)}
      done="Deleted"
      onSubmit={async () => {
        await api.DELETE("/webhooks/{id}", { path });
        forget("/webhooks");
        route(to("webhooks"));
      }}
    >
      <p>Pending events are not sent.</p>
    </Confirm>
  );
  return (
    <>
      <Button onClick={() => void ping()}>Ping</Button>
      {shown.waitingChats > 0 && !isDisabled && <Button onClick={() => void retry().catch(sayError)}>Retry now</Button>}
      <Button disabled={isDisabled} opens={<ReplayDialog id={id} failed={shown.failed} onChanged={onChanged} />}>
        Send again
      </Button>
      <Button opens={<WebhookDialog shown={shown} onWebhook={onWebhook} />}>Change</Button>
      <Button opens={isDisabled ? enable : disable}>{isDisabled ? "Enable" : "Disable"}</Button>
      <Menu label="More actions" button={<Icon name="more" />}>
        <MenuItem opens={rotate}>Rotate the secret</MenuItem>
        <MenuItem danger opens={remove}>
          Delete
        </MenuItem>
      </Menu>
    </>
  );
}

function Details({ shown }: { shown: Webhook }) {
  const { id, url, state, reason, since, disablesAt, pausedUntil, waitingChats, failed, lastSuccessAt } = shown;
  const { types, channels, payload, perSecond, concurrency, previousSecretExpiresAt, createdAt } = shown;
  return (
    <>
      {(state === "failing" || reason !== null) && (
        <div class={`notice ${state === "failing" ? "tone-bad" : "tone-warn"}`} role="status">
          <p>
            {reason !== null && REASONS[reason]}
            {state === "failing" && (
              <>
                Its calls began to fail <Time at={since} long />. Parley keeps trying.
              </>
            )}
            {disablesAt !== null && (
              <>
                {" "}
                It will be disabled <Time at={disablesAt} future />.
              </>
            )}
          </p>
        </div>
      )}
      <div class="grid">
        <Box title="State">
          <Facts
            of={{
              State: (
                <>
                  <Badge {...STATES[state]} />{" "}
                  <span class="quiet">
                    last change <Time at={since} long />
                  </span>
                </>
              ),
              "Last accepted event": lastSuccessAt ? <Time at={lastSuccessAt} long /> : "None yet",
              "Paused until": pausedUntil && (
                <>
                  <Time at={pausedUntil} future />, as it asked
                </>
              ),
              "Chats waiting for it": number(waitingChats),
              "Events given up": number(failed),
            }}
          />
        </Box>
        <Box title="What it gets">
          <Facts
            of={{
              Events: types === null ? "All" : <Codes texts={types} />,
              Channels: channels === null ? "All" : <ChannelNames ids={channels} />,
              Content: payload === "thin" ? "Thin: without text and address" : "Full",
            }}
          />
        </Box>
        <Box title="Endpoint">
          <Facts
            of={{
              URL: <Copyable text={url} />,
              Id: <Copyable text={id} />,
              Pace: `At most ${number(perSecond)} per second, ${number(concurrency)} at a time`,
              "The old secret ends": previousSecretExpiresAt && <Time at={previousSecretExpiresAt} future />,
              Created: <Time at={createdAt} long />,
            }}
          />
        </Box>
      </div>
    </>
  );
}

function Codes({ texts }: { texts: string[] }) {
  return (
    <span class="line">
      {texts.map((text) => (
        <code key={text}>{text}</code>
      ))}
    </span>
  );
}

function ChannelNames({ ids }: { ids: string[] }) {
  const { to } = usePlace();
  const channels = useChannels();
  if (!may("channels:read")) return <Codes texts={ids} />;
  return (
    <ul>
      {ids.map((id) => (
        <li key={id}>
          <a href={to(`channels/${id}`)}>
            <bdi>{channels.find((channel) => channel.id === id)?.name ?? id}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}
