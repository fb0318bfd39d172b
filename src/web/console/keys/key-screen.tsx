import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { number } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Badge } from "../parts/badge.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { HistoryChart } from "../parts/history-chart.tsx";
import { mayGive } from "../parts/permission-picker.tsx";
import { Fact, Facts, Screen } from "../parts/screen.tsx";
import { SecretDialog } from "../parts/secret.tsx";
import { Loaded } from "../parts/states.tsx";
import { now, Time } from "../parts/time.tsx";
import { say } from "../parts/toast.tsx";
import { type Resource, useResource } from "../resource.ts";
import { currentSession, may } from "../session.ts";
import { EditKeyDialog } from "./key-form.tsx";
import { type Key, rateText, stateOf } from "./key-state.ts";
import { Quota } from "./quota.tsx";
import { RotateDialog } from "./rotate-dialog.tsx";

/** One key: what it may do, how it is used, and what can be done with it. */
export function KeyScreen({ id }: { id: string }): JSX.Element {
  const { api, to } = usePlace();
  const found = useResource(`key ${id}`, async (signal) => {
    return (await api.GET("/keys/{id}", { path: { id }, signal })).key;
  });
  const back = { href: to("keys"), label: "Keys" };
  return (
    <Screen
      title={found.data?.name ?? "Key"}
      back={back}
      actions={found.data && may("keys:write") ? <Actions shown={found.data} found={found} /> : null}
    >
      <Loaded resource={found}>{(shown) => <KeyDetails shown={shown} />}</Loaded>
    </Screen>
  );
}

/** Who may not give what a key has can only revoke it. */
function Actions({ shown, found }: { shown: Key; found: Resource<Key> }): JSX.Element | null {
  const { organization, api } = usePlace();
  const open = useSignal<"edit" | "rotate" | "revoke" | null>(null);
  const secret = useSignal<string | null>(null);
  const close = () => (open.value = null);
  const isOwn = currentSession().type === "operator" || organization.selfService !== null;
  const canChange = isOwn && mayGive(shown.permissions);
  const { isLive } = stateOf(shown, now.value);
  const isRevoked = shown.revokedAt !== null;
  if (isRevoked) return null;
  return (
    <>
      {canChange && (
        <>
          <button type="button" class="button" disabled={!isLive} onClick={() => (open.value = "rotate")}>
            Rotate
          </button>
          <button type="button" class="button" onClick={() => (open.value = "edit")}>
            Change
          </button>
        </>
      )}
      <button type="button" class="button button-warns" onClick={() => (open.value = "revoke")}>
        Revoke
      </button>
      {open.value === "edit" && <EditKeyDialog shown={shown} onClose={close} onKey={found.set} />}
      {open.value === "rotate" && (
        <RotateDialog
          id={shown.id}
          onClose={close}
          onMade={(made) => {
            close();
            secret.value = made.secret;
            found.set(made.key);
          }}
        />
      )}
      {open.value === "revoke" && (
        <Confirm
          title={`Revoke “${shown.name}”?`}
          submit="Revoke"
          onClose={close}
          onConfirm={async () => {
            found.set((await api.DELETE("/keys/{id}", { path: { id: shown.id } })).key);
            say("The key was revoked");
          }}
        >
          <p>Its next request is refused, for good. What it sent is not changed.</p>
        </Confirm>
      )}
      {secret.value !== null && (
        <SecretDialog title="Save the new secret now" secret={secret.value} onClose={() => (secret.value = null)}>
          <p>
            It is shown only this once. Give it to the program
            {shown.previousSecretExpiresAt ? (
              <>
                {" "}
                before the old one ends, <Time at={shown.previousSecretExpiresAt} future />.
              </>
            ) : (
              ". The old one does not work any more."
            )}
          </p>
        </SecretDialog>
      )}
    </>
  );
}

function KeyDetails({ shown }: { shown: Key }): JSX.Element {
  const { id, permissions, rateLimit, ipAllowlist, expiresAt, revokedAt, previousSecretExpiresAt } = shown;
  const state = stateOf(shown, now.value);
  return (
    <>
      <div class="grid">
        <section class="box">
          <h2>Key</h2>
          <Facts>
            <Fact name="State">
              <Badge tone={state.tone}>{state.name}</Badge>
            </Fact>
            <Fact name="Id">
              <Copyable text={id} label="the key’s id" />
            </Fact>
            <Fact name="Created">
              <Time at={shown.createdAt} long /> by <Maker id={shown.createdBy} />
            </Fact>
            {revokedAt && (
              <Fact name="Revoked">
                <Time at={revokedAt} long />
              </Fact>
            )}
            <Fact name="Expires">{expiresAt ? <Time at={expiresAt} future /> : "Never"}</Fact>
            {state.name === "Two secrets" && previousSecretExpiresAt && (
              <Fact name="The old secret ends">
                <Time at={previousSecretExpiresAt} future />
              </Fact>
            )}
          </Facts>
        </section>
        <section class="box">
          <h2>Limits</h2>
          <Limits id={id} rateLimit={rateLimit} />
          <Facts>
            <Fact name="Allowed addresses">
              {ipAllowlist.length === 0 ? "Every address" : <code>{ipAllowlist.join(", ")}</code>}
            </Fact>
          </Facts>
        </section>
        <section class="box">
          <h2>Permissions</h2>
          {permissions.length === 0 ? (
            <p class="quiet">None. The key can only read itself.</p>
          ) : (
            <ul class="codes">
              {permissions.map((one) => (
                <li key={one}>
                  <code>{one}</code>
                </li>
              ))}
            </ul>
          )}
        </section>
      </div>
      {may("stats:read") && (
        <section class="box">
          <HistoryChart title="Requests" of={id} />
        </section>
      )}
    </>
  );
}

function Limits({ id, rateLimit }: { id: string; rateLimit: Key["rateLimit"] }): JSX.Element {
  const { api } = usePlace();
  const usage = useResource(`usage ${id}`, async (signal) => {
    return (await api.GET("/keys/{id}/usage", { path: { id }, signal })).usage;
  });
  return (
    <Loaded resource={usage} rows={1}>
      {(used) => (
        <Facts>
          <Fact name={used.quota === null ? "Requests" : "Month’s quota"}>
            <Quota usage={used} />
          </Fact>
          <Fact name="Rate limit">
            {rateText(rateLimit, number)}
            {used.window.reset !== null && <span class="quiet"> · {number(used.window.remaining)} left now</span>}
          </Fact>
        </Facts>
      )}
    </Loaded>
  );
}

/** Who created something: the operator, or a key or member by its id. */
function Maker({ id }: { id: string }): JSX.Element {
  return id === "operator" ? <>the operator</> : <Copyable text={id} label="the id of who created it" />;
}
