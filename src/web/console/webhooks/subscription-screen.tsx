import type { Schemas } from "../api.ts";
import { number, plural } from "../format.ts";
import { useGet, usePlace } from "../organization.ts";
import { Button, WarnButton } from "../parts/button.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Screen } from "../parts/screen.tsx";
import { Time } from "../parts/time.tsx";
import { sayError } from "../parts/toast.tsx";
import { forget } from "../resource.ts";
import { CallTable } from "./attempts.tsx";
import { mayManage } from "./webhook-list.tsx";

type Subscription = Schemas["WebhookChat"];

/** Most calls have ended by then. */
const RELOAD_MS = 1_500;

/** What one chat sends to a webhook: what waits, and why. */
export function SubscriptionScreen({ id, chatId }: { id: string; chatId: string }) {
  const { api, to } = usePlace();
  const path = { id, chatId };
  const subscription = useGet("/webhooks/{id}/chats/{chatId}", { path });
  const head = subscription.data?.head ?? null;
  const retry = async () => {
    subscription.set(await api.POST("/webhooks/{id}/chats/{chatId}/retry", { path }));
    setTimeout(subscription.reload, RELOAD_MS);
  };
  const skip = ({ eventId, number: nth, type }: NonNullable<Subscription["head"]>) => (
    <Confirm
      title="Skip this event?"
      submit="Skip"
      done="Skipped"
      onSubmit={async () => {
        subscription.set(await api.POST("/webhooks/{id}/chats/{chatId}/skip", { path, body: { eventId } }));
        // The webhook's own screen has other numbers now.
        forget(`/webhooks/{id} `);
        setTimeout(subscription.reload, RELOAD_MS);
      }}
    >
      <p>
        Event {number(nth)}, <code>{type}</code>, is not sent, and the ones after it go out. A replay can send it later.
      </p>
    </Confirm>
  );
  return (
    <Screen
      title="A chat’s events"
      intro="If your server refuses an event, the later ones of the chat wait."
      back={{ href: to(`webhooks/${id}`), label: "Webhook" }}
      actions={
        <>
          <Button href={to(`inbox/${chatId}`)}>Open the chat</Button>
          <Button onClick={subscription.reload}>Reload</Button>
          {head && mayManage() && <Button onClick={() => void retry().catch(sayError)}>Try now</Button>}
          {head && mayManage() && <WarnButton opens={skip(head)}>Skip the event</WarnButton>}
        </>
      }
    >
      <Loaded resource={subscription}>{(data) => <Details subscription={data} chatId={chatId} />}</Loaded>
    </Screen>
  );
}

function Details({
  subscription: { pending, head, nextAttemptAt, attempts },
  chatId,
}: {
  subscription: Subscription;
  chatId: string;
}) {
  return (
    <>
      <section class="box">
        <Facts
          of={{
            Chat: <Copyable text={chatId} />,
            "Pending events": number(pending),
            ...(head && {
              Next: (
                <>
                  Number {number(head.number)}, <code>{head.type}</code>, tried {plural(head.tries, "time")}
                </>
              ),
              "Its id": <Copyable text={head.eventId} />,
              "Next call": nextAttemptAt ? <Time at={nextAttemptAt} future /> : "When the webhook can be called",
            }),
          }}
        />
      </section>
      <section class="section">
        <h2>Last calls</h2>
        {attempts.length === 0 ? (
          <p class="quiet">None yet.</p>
        ) : (
          <CallTable caption="Last calls, newest first" calls={attempts} columns={["Event"]}>
            {({ type, number: nth }) => (
              <td>
                <code>{type}</code> {nth}
              </td>
            )}
          </CallTable>
        )}
      </section>
    </>
  );
}
