import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { DESCRIPTIONS } from "../../../model/channel-kind.ts";
import type { Schemas } from "../api.ts";
import { number } from "../format.ts";
import { listen } from "../inbox/live.ts";
import { route } from "../location.ts";
import { MOST, useGet, usePlace } from "../organization.ts";
import { Button } from "../parts/button.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { HistoryChart } from "../parts/history-chart.tsx";
import { Box, Facts, Screen } from "../parts/screen.tsx";
import { Loaded } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { forget, useResource } from "../resource.ts";
import { may } from "../session.ts";
import { retentionInWords } from "../settings/retention.tsx";
import type { ChannelProps } from "./channel-kinds.ts";
import { ChatCount, Health } from "./channel-list.tsx";
import { Checks, useChecks } from "./checks.tsx";
import { CredentialsDialog } from "./credentials.tsx";
import { Register, WebhookFacts } from "./set-up.tsx";
import { SettingsDialog } from "./settings-dialog.tsx";
import { PageLink, RotateIdentity, Snippet } from "./web-parts.tsx";

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
        {({ channel }) => <Details channel={channel} onChannel={found.set} stats={stats.data ?? null} />}
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
      <a class="button" href={to(`channels/${id}/set-up`)}>
        Set-up guide
      </a>
      {kind === "web" && (
        <a class="button" href={to(`channels/${id}/chat`)}>
          Chat settings
        </a>
      )}
      <Button opens={<SettingsDialog channel={channel} onChannel={onChannel} />}>Change</Button>
      {may("chats:erase") && (
        <Button class="button button-warns" opens={remove}>
          Delete
        </Button>
      )}
    </>
  );
}

interface DetailsProps extends ChannelProps {
  stats: Schemas["ChannelStats"] | null;
}

function Details({ channel, onChannel, stats }: DetailsProps) {
  const isAsked = useSignal(false);
  const checks = useChecks(channel.id, isAsked.value);
  const { id, kind, health, settings, limits, retentionDays, credentials, createdAt } = channel;
  const { label, network, credentials: fields, webhook } = DESCRIPTIONS[kind];
  const canWrite = may("channels:write");
  const canRotate = canWrite && may("messages:read") && may("messages:send");
  const replace = (
    <CredentialsDialog
      channel={channel}
      onChannel={(answer) => {
        onChannel(answer);
        if (isAsked.value) checks.reload();
      }}
    />
  );
  return (
    <>
      {health.state === "broken" && (
        <div class="notice tone-bad" role="alert">
          <p>
            <strong>
              {network} refused this channel <Time at={health.since} long />.
            </strong>{" "}
            {health.reason} Messages wait, and none is lost.
            {stats?.health.nextProbeAt && (
              <>
                {" "}
                Parley tries again <Time at={stats.health.nextProbeAt} future />.
              </>
            )}
          </p>
          {canWrite && <Button opens={replace}>Replace the credentials</Button>}
        </div>
      )}
      <div class="grid">
        <Box title="Channel">
          <Facts
            of={{
              State: (
                <>
                  <Health health={health} />{" "}
                  <span class="quiet">
                    last change <Time at={health.since} long />
                  </span>
                </>
              ),
              Kind: label,
              Id: <Copyable text={id} />,
              Created: <Time at={createdAt} long />,
            }}
          />
        </Box>
        <Box title="Now">
          <Facts
            of={{
              Chats: may("chats:read") && (
                <>
                  <ChatCount id={id} isBare /> {limits.chats !== null && `of at most ${number(limits.chats)}`}
                </>
              ),
              ...(stats && {
                "Waiting messages": <Waiting queue={stats.queue} />,
                "Sent so far": number(stats.attempts.sent),
                "Received so far": number(stats.received),
                "Failed so far": number(stats.attempts.failed),
              }),
            }}
          />
          {!stats && !may("stats:read") && (
            <p class="quiet">
              Numbers are shown with the permission <code>stats:read</code>.
            </p>
          )}
        </Box>
        <Box title="Settings">
          <Facts
            of={{
              Pace: settings.perSecond !== undefined && `At most ${number(settings.perSecond)} per second`,
              "Sites that may show it": settings.allowedOrigins && <Sites origins={settings.allowedOrigins} />,
              "Messages are kept": retentionInWords(retentionDays),
            }}
          />
        </Box>
      </div>
      <div class="grid">
        {credentials && (
          <Box title="Credentials">
            <Facts
              of={Object.fromEntries(
                fields.map(({ name, label: what }) => [what, <code key={name}>…{credentials[name] ?? ""}</code>]),
              )}
            />
            {canWrite && (
              <p>
                <Button opens={replace}>Replace</Button>
              </p>
            )}
          </Box>
        )}
        {kind === "web" && (
          <Box title="On your site">
            <Snippet id={id} />
            <PageLink id={id} />
            {canRotate && (
              <p>
                <Button opens={<RotateIdentity id={id} />}>New identity secret</Button>
              </p>
            )}
          </Box>
        )}
        {channel.webhook && (
          <Box title="Webhook">
            <WebhookFacts channel={channel} />
            {webhook?.enter === null && canWrite && (
              <Register channel={channel} isDone onDone={() => isAsked.value && checks.reload()} />
            )}
          </Box>
        )}
        {canWrite && (
          <Box title="Check">
            {isAsked.value ? (
              <Checks checks={checks} />
            ) : (
              <>
                <p class="quiet">
                  {kind === "web"
                    ? "Checks whether the secrets can be read."
                    : `Asks ${network} whether the credentials work and where the webhook points.`}
                </p>
                <p>
                  <Button onClick={() => (isAsked.value = true)}>Check now</Button>
                </p>
              </>
            )}
          </Box>
        )}
      </div>
      {may("stats:read") && (
        <section class="box">
          <HistoryChart title="Messages" of={id} />
        </section>
      )}
    </>
  );
}

function Waiting({ queue: { depth, oldest } }: { queue: Schemas["ChannelStats"]["queue"] }) {
  return (
    <>
      {number(depth)}
      {oldest && (
        <span class="quiet">
          {" "}
          · the oldest from <Time at={oldest} long />
        </span>
      )}
    </>
  );
}

function Sites({ origins }: { origins: string[] }) {
  if (origins.length === 0) return <>Every site</>;
  return (
    <ul>
      {origins.map((origin) => (
        <li key={origin}>
          <code>{origin}</code>
        </li>
      ))}
    </ul>
  );
}
