import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { DESCRIPTIONS } from "../../../model/channel-kind.ts";
import type { Channel, Schemas } from "../api.ts";
import { useGet, usePlace } from "../organization.ts";
import { Button } from "../parts/button.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Screen } from "../parts/screen.tsx";
import { useBusy } from "../parts/toast.tsx";
import { usePolling } from "../polling.ts";
import { may } from "../session.ts";
import type { ChannelProps } from "./channel-kinds.ts";
import { areGood, Checks, useChecks } from "./checks.tsx";
import { CredentialsDialog } from "./credentials.tsx";
import { FirstMessage, Step } from "./first-message.tsx";
import { OriginsForm, Preview, Snippet } from "./web-parts.tsx";

/** How often the network is asked whether its webhook points here, and how many times. */
const ASK_MS = 10_000;
const MOST_ASKED = 30;

/** What is left to do until a channel works, step by step. */
export function SetUp({ id }: { id: string }) {
  const { to } = usePlace();
  const found = useGet("/channels/{id}", { path: { id } });
  const name = found.data?.channel.name;
  return (
    <Screen
      title={name ? `Set up “${name}”` : "Set up a channel"}
      back={{ href: to("channels"), label: "Channels" }}
      actions={<Button href={to(`channels/${id}`)}>Show the channel</Button>}
    >
      <Loaded resource={found}>
        {({ channel }) =>
          channel.kind === "web" ? (
            <WebSteps channel={channel} onChannel={found.set} />
          ) : (
            <NetworkSteps channel={channel} onChannel={found.set} />
          )
        }
      </Loaded>
    </Screen>
  );
}

function WebSteps({ channel, onChannel }: ChannelProps) {
  const { id, settings } = channel;
  const hasOrigins = (settings.allowedOrigins ?? []).length > 0;
  return (
    <ol class="steps">
      <Step title="Choose the sites that may show it" isDone={hasOrigins}>
        <OriginsForm channel={channel} onChannel={onChannel} />
      </Step>
      <Step title="Put it on your site" isDone={null}>
        <p>Paste these lines at the end of each page’s body.</p>
        <Snippet id={id} />
      </Step>
      <Step title="Try it" isDone={null}>
        <p>Write a message, as a visitor does.</p>
        <Preview id={id} name={channel.name} />
      </Step>
      <FirstMessage id={id} hint={DESCRIPTIONS.web.firstMessage} />
    </ol>
  );
}

function NetworkSteps({ channel, onChannel }: ChannelProps) {
  const { id, kind } = channel;
  const { label, network, webhook, firstMessage } = DESCRIPTIONS[kind];
  const enter = webhook?.enter ?? null;
  const checks = useChecks(id, may("channels:write"));
  const isAccepted = areGood(checks.data, "credentials", "network");
  const isConnected = areGood(checks.data, "webhook");
  const isWaiting = isAccepted === true && isConnected === false && enter !== null;
  const asked = useRef(0);
  usePolling(isWaiting, ASK_MS, () => {
    if (asked.current++ < MOST_ASKED) checks.reload();
  });
  const replace = (
    <CredentialsDialog
      channel={channel}
      onChannel={(answer) => {
        onChannel(answer);
        checks.reload();
      }}
    />
  );
  return (
    <ol class="steps">
      <Step title={`${label} accepts the credentials`} isDone={isAccepted}>
        <Checks checks={checks} only={["credentials", "network"]} />
        {isAccepted === false && (
          <p>
            <Button opens={replace}>Replace the credentials</Button>
          </p>
        )}
      </Step>
      <Step title={`${network} sends messages here`} isDone={isConnected}>
        {webhook?.isRegistered && <Register channel={channel} isDone={isConnected === true} onDone={checks.reload} />}
        {enter !== null && (
          <>
            <p>{enter}</p>
            <WebhookFacts channel={channel} />
            {isWaiting && (
              <p class="waiting" role="status">
                Waiting for {network}…
              </p>
            )}
          </>
        )}
        <Checks checks={checks} only={["webhook"]} isWaiting={isConnected === false} />
      </Step>
      <FirstMessage id={id} hint={firstMessage} />
    </ol>
  );
}

interface RegisterProps {
  channel: Channel;
  isDone: boolean;
  onDone: () => void;
}

/** Makes the network call the service. A webhook that points here can be registered again. */
export function Register({ channel: { id, kind }, isDone, onDone }: RegisterProps) {
  const { api } = usePlace();
  const { network } = DESCRIPTIONS[kind];
  const { isBusy, run } = useBusy();
  const answer = useSignal<Schemas["WebhookRegistration"] | null>(null);
  const register = async () => {
    answer.value = (await api.POST("/channels/{id}/webhook", { path: { id } })).webhook;
    onDone();
  };
  return (
    <>
      {!isDone && <p>{network} gets the address of this service, and a secret that proves each call.</p>}
      <p>
        <Button
          class={isDone ? "button" : "button button-main"}
          aria-busy={isBusy.value}
          disabled={isBusy.value}
          onClick={() => void run(register)}
        >
          Register the webhook
        </Button>
      </p>
      {answer.value && (
        <p class={answer.value.ok ? "" : "failed"} role="status">
          {network} says: {answer.value.description}
        </p>
      )}
    </>
  );
}

/** What the network must know to call the service. */
export function WebhookFacts({ channel: { webhook, kind } }: { channel: Channel }) {
  const { network, webhook: names } = DESCRIPTIONS[kind];
  if (!webhook || !names) return null;
  const isLocal = /^https?:\/\/(localhost|127\.|\[::1\])/.test(webhook.url);
  return (
    <>
      {isLocal && (
        <p class="hint warn">
          {network} can’t reach an address on this computer. Deploy Parley, or open the console through a public https
          address, such as that of a tunnel.
        </p>
      )}
      <Facts
        of={{
          [names.url]: <Copyable text={webhook.url} />,
          [names.token]: webhook.verifyToken ? (
            <Copyable text={webhook.verifyToken} />
          ) : (
            <span class="quiet">Only shown to people who can manage channels, and read and send messages</span>
          ),
        }}
      />
    </>
  );
}
