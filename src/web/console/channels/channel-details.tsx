import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { DESCRIPTIONS } from "../../../model/channel-kind.ts";
import type { Channel, Schemas } from "../api.ts";
import { number } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Box, Facts } from "../parts/facts.tsx";
import { HistoryChart } from "../parts/history-chart.tsx";
import { Time } from "../parts/time.tsx";
import { may } from "../session.ts";
import { BotBox } from "./bot.tsx";
import type { ChannelProps } from "./channel-kinds.ts";
import { ChatCount, Health } from "./channel-list.tsx";
import { Checks, useChecks } from "./checks.tsx";
import { CredentialsDialog } from "./credentials.tsx";
import { retentionInWords } from "./retention.tsx";
import { Register, WebhookFacts } from "./set-up.tsx";
import { PageLink, RotateIdentity, Snippet } from "./web-parts.tsx";

type Stats = Schemas["ChannelStats"];

/** What is known about a channel, and what connects it. */
export function ChannelDetails({ channel, onChannel, stats }: ChannelProps & { stats: Stats | null }) {
  const { id, kind, credentials } = channel;
  const isAsked = useSignal(false);
  const checks = useChecks(id, isAsked.value);
  const checkAgain = () => isAsked.value && checks.reload();
  const canWrite = may("channels:write");
  const { network, webhook } = DESCRIPTIONS[kind];
  const replace = (
    <CredentialsDialog
      channel={channel}
      onChannel={(answer) => {
        onChannel(answer);
        checkAgain();
      }}
    />
  );
  return (
    <>
      <BrokenNotice channel={channel} stats={stats} replace={replace} />
      <Warnings health={channel.health} />
      <div class="grid">
        <ChannelFacts channel={channel} />
        <Numbers channel={channel} stats={stats} />
        <SettingsFacts channel={channel} />
      </div>
      <div class="grid">
        <BotBox channel={channel} onChannel={onChannel} />
        {credentials && <Credentials kind={kind} credentials={credentials} replace={replace} />}
        {kind === "web" && <OnSite id={id} />}
        {channel.webhook && (
          <Box title="Webhook">
            <WebhookFacts channel={channel} />
            {webhook?.isRegistered && canWrite && <Register channel={channel} isDone onDone={checkAgain} />}
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
                <Button onClick={() => (isAsked.value = true)}>Check now</Button>
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

interface BrokenNoticeProps {
  channel: Channel;
  stats: Stats | null;
  replace: JSX.Element;
}

function BrokenNotice({ channel: { kind, health }, stats, replace }: BrokenNoticeProps) {
  if (health.state !== "broken") return null;
  return (
    <div class="notice tone-bad" role="alert">
      <p>
        <strong>
          {DESCRIPTIONS[kind].network} refused this channel <Time at={health.since} long />.
        </strong>{" "}
        {health.reason} Messages wait, and none is lost.
        {stats?.health.nextProbeAt && (
          <>
            {" "}
            Parley tries again <Time at={stats.health.nextProbeAt} future />.
          </>
        )}
      </p>
      {may("channels:write") && <Button opens={replace}>Replace the credentials</Button>}
    </div>
  );
}

function Warnings({ health: { warnings, unknown } }: Pick<Channel, "health">) {
  if (warnings.length === 0) return null;
  return (
    <ul class="notice tone-warn">
      {warnings.map(({ code, since, count, text }) => (
        <li key={code}>
          {text}{" "}
          <span class="quiet">
            since <Time at={since} long />
            {count > 1 && `, reported ${number(count)} times`}
          </span>
          {code === "unknown_fields" && (
            <ul>
              {Object.entries(unknown).map(([name, times]) => (
                <li key={name}>
                  <code>{name}</code> <span class="quiet">{number(times)}</span>
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ul>
  );
}

function ChannelFacts({ channel: { id, kind, health, createdAt } }: { channel: Channel }) {
  return (
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
          Kind: DESCRIPTIONS[kind].label,
          Id: <Copyable text={id} />,
          Created: <Time at={createdAt} long />,
        }}
      />
    </Box>
  );
}

function Numbers({ channel: { id, limits }, stats }: { channel: Channel; stats: Stats | null }) {
  return (
    <Box title="Now">
      <Facts
        of={{
          Chats: may("chats:read") && (
            <>
              <ChatCount id={id} isBare /> {limits.chats !== null && `of at most ${number(limits.chats)}`}
            </>
          ),
          ...(stats && {
            "With the bot": stats.withBot > 0 && number(stats.withBot),
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
  );
}

function Waiting({ queue: { depth, oldest } }: { queue: Schemas["ChannelStats"]["queue"] }) {
  return (
    <>
      {number(depth)}
      {oldest && (
        <span class="quiet">
          {" "}
          · the oldest <Time at={oldest} long />
        </span>
      )}
    </>
  );
}

function SettingsFacts({ channel: { settings, retentionDays } }: { channel: Channel }) {
  return (
    <Box title="Settings">
      <Facts
        of={{
          Pace: settings.perSecond !== undefined && `At most ${number(settings.perSecond)} per second`,
          "Sites that may show it": settings.allowedOrigins && <Sites origins={settings.allowedOrigins} />,
          "Stop words": settings.stopWords?.join(", "),
          "Away message": settings.away?.text,
          "Messages are kept": retentionInWords(retentionDays),
        }}
      />
    </Box>
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

interface CredentialsProps {
  kind: Channel["kind"];
  credentials: NonNullable<Channel["credentials"]>;
  replace: JSX.Element;
}

function Credentials({ kind, credentials, replace }: CredentialsProps) {
  const shown = DESCRIPTIONS[kind].credentials.map(({ name, label }) => [
    label,
    <code key={name}>…{credentials[name] ?? ""}</code>,
  ]);
  return (
    <Box title="Credentials">
      <Facts of={Object.fromEntries(shown)} />
      {may("channels:write") && <Button opens={replace}>Replace</Button>}
    </Box>
  );
}

/** What puts a web chat on a site. */
function OnSite({ id }: { id: string }) {
  const canRotate = may("channels:write") && may("messages:read") && may("messages:send");
  return (
    <Box title="On your site">
      <Snippet id={id} />
      <PageLink id={id} />
      {canRotate && <Button opens={<RotateIdentity id={id} />}>New identity secret</Button>}
    </Box>
  );
}
