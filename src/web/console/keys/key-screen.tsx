import { number } from "../format.ts";
import { useGet, usePlace } from "../organization.ts";
import { Badge } from "../parts/badge.tsx";
import { Button, WarnButton } from "../parts/button.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Box, Facts } from "../parts/facts.tsx";
import { HistoryChart } from "../parts/history-chart.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { mayGive } from "../parts/permission-picker.tsx";
import { Screen } from "../parts/screen.tsx";
import { now, Time } from "../parts/time.tsx";
import { currentSession, may } from "../session.ts";
import { KeyDialog, RotateDialog } from "./key-dialogs.tsx";
import { type Key, rateText, stateOf } from "./key-state.ts";
import { Quota } from "./quota.tsx";

/** One key: what it may do, how it is used, and what can be done with it. */
export function KeyScreen({ id }: { id: string }) {
  const { to } = usePlace();
  const found = useGet("/keys/{id}", { path: { id } });
  const shown = found.data?.key;
  return (
    <Screen
      title={shown?.name ?? "Key"}
      back={{ href: to("keys"), label: "Keys" }}
      actions={shown && may("keys:write") ? <Actions shown={shown} onKey={found.set} /> : null}
    >
      <Loaded resource={found}>{({ key }) => <KeyDetails shown={key} />}</Loaded>
    </Screen>
  );
}

/** Who may not give what a key has can only revoke it. */
function Actions({ shown, onKey }: { shown: Key; onKey: (changed: { key: Key }) => void }) {
  const { organization, api } = usePlace();
  const { id, name, permissions, revokedAt } = shown;
  const isOwn = currentSession().type === "operator" || organization.selfService !== null;
  const canChange = isOwn && mayGive(permissions);
  const { isLive } = stateOf(shown, now.value);
  if (revokedAt !== null) return null;
  const revoke = (
    <Confirm
      title={`Revoke “${name}”?`}
      submit="Revoke"
      done="Revoked"
      onSubmit={async () => onKey(await api.DELETE("/keys/{id}", { path: { id } }))}
    >
      <p>The key stops working immediately. This can’t be undone.</p>
    </Confirm>
  );
  return (
    <>
      {canChange && (
        <>
          <Button disabled={!isLive} opens={<RotateDialog id={id} onKey={onKey} />}>
            Rotate
          </Button>
          <Button opens={<KeyDialog shown={shown} onKey={onKey} />}>Change</Button>
        </>
      )}
      <WarnButton opens={revoke}>Revoke</WarnButton>
    </>
  );
}

function KeyDetails({ shown }: { shown: Key }) {
  const { id, permissions, draftsOnly, rateLimit, ipAllowlist, expiresAt, revokedAt, previousSecretExpiresAt } = shown;
  const state = stateOf(shown, now.value);
  return (
    <>
      <div class="grid">
        <Box title="Key">
          <Facts
            of={{
              State: <Badge tone={state.tone} label={state.name} />,
              Id: <Copyable text={id} />,
              Created: (
                <>
                  <Time at={shown.createdAt} long /> by{" "}
                  {shown.createdBy === "operator" ? "the operator" : <Copyable text={shown.createdBy} />}
                </>
              ),
              Revoked: revokedAt && <Time at={revokedAt} long />,
              Expires: expiresAt ? <Time at={expiresAt} future /> : "Never",
              "The old secret ends": state.name === "Two secrets" && previousSecretExpiresAt && (
                <Time at={previousSecretExpiresAt} future />
              ),
            }}
          />
        </Box>
        <Box title="Limits">
          <Limits id={id} rateLimit={rateLimit} />
          <Facts
            of={{
              "Reaches contacts": draftsOnly && "No, it only writes drafts",
              "Allowed addresses": ipAllowlist.length === 0 ? "Every address" : <code>{ipAllowlist.join(", ")}</code>,
            }}
          />
        </Box>
        <Box title="Permissions">
          {permissions.length === 0 ? (
            <p class="quiet">None. The key can only read itself.</p>
          ) : (
            <ul class="line">
              {permissions.map((one) => (
                <li key={one}>
                  <code>{one}</code>
                </li>
              ))}
            </ul>
          )}
        </Box>
      </div>
      {may("stats:read") && (
        <section class="box">
          <HistoryChart title="Requests" of={id} />
        </section>
      )}
    </>
  );
}

function Limits({ id, rateLimit }: { id: string; rateLimit: Key["rateLimit"] }) {
  const usage = useGet("/keys/{id}/usage", { path: { id } });
  return (
    <Loaded resource={usage} rows={1}>
      {({ usage: used }) => (
        <Facts
          of={{
            [used.quota === null ? "Requests" : "Month’s quota"]: <Quota usage={used} />,
            "Rate limit": (
              <>
                {rateText(rateLimit, number)}
                {used.window.reset !== null && <span class="quiet"> · {number(used.window.remaining)} left now</span>}
              </>
            ),
          }}
        />
      )}
    </Loaded>
  );
}
