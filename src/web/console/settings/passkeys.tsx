import { call } from "../api.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Confirm, FormDialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import { RowMain } from "../parts/list-screen.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { now, Time } from "../parts/time.tsx";
import { useResource } from "../resource.ts";
import { serviceNow } from "../service-clock.ts";
import { hasAccess } from "../session.ts";
import { makePasskey, type NewPasskeyOptions } from "../sign-in/ceremony.ts";
import { canHavePasskeys, PasskeySignIn } from "../sign-in/passkey-sign-in.tsx";

interface Passkey {
  id: string;
  name: string;
  /** The host name of the console that it works for. */
  host: string;
  createdAt: string;
  lastUsedAt: string | null;
}

/** As `GET /console/api/passkeys` answers. */
interface OwnPasskeys {
  passkeys: Passkey[];
  /** The host name of the console; null at an IP address. */
  host: string | null;
  /** Until then the session can change them. */
  changeableUntil: string;
}

const MOST = 10;

export function Passkeys() {
  const own = useResource("passkeys", (signal) => call<OwnPasskeys>("GET", "/passkeys", undefined, signal));
  return (
    <section class="section">
      <h2>Your passkeys</h2>
      <p class="stack">
        With a passkey you sign in without a link, by the fingerprint, face or PIN of your device. If you lose it, ask
        for a link.
      </p>
      <Loaded resource={own} rows={2}>
        {(data) => <List {...data} onChange={own.reload} />}
      </Loaded>
    </section>
  );
}

function List({ passkeys, host, changeableUntil, onChange }: OwnPasskeys & { onChange: () => void }) {
  // The page draws it again as time passes.
  const isFresh = now.value > 0 && serviceNow() < Date.parse(changeableUntil);
  const isSupported = host !== null && canHavePasskeys();
  return (
    <>
      {passkeys.length > 0 && (
        <ul class="rows">
          {passkeys.map((passkey) => (
            <li key={passkey.id} class="row">
              <RowMain
                name={passkey.name}
                mark={passkey.host !== host && <Badge tone="warn" label={`Only at ${passkey.host}`} />}
              >
                <p class="row-detail">
                  {passkey.lastUsedAt ? (
                    <>
                      Last used <Time at={passkey.lastUsedAt} long />
                    </>
                  ) : (
                    "Not used yet"
                  )}
                  , added <Time at={passkey.createdAt} long />
                </p>
              </RowMain>
              {isFresh && (
                <>
                  <Button opens={<Rename passkey={passkey} onChange={onChange} />}>
                    Rename<span class="hidden"> {passkey.name}</span>
                  </Button>
                  <Button opens={<Remove passkey={passkey} onChange={onChange} />}>
                    Delete<span class="hidden"> {passkey.name}</span>
                  </Button>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {isFresh && isSupported && passkeys.length < MOST && (
        <Button opens={<Add onChange={onChange} />}>Add a passkey</Button>
      )}
      {!isSupported && (
        <p class="hint">
          {host === null
            ? "Passkeys work for host names, and this console was opened at an IP address. Here, sign in with a link."
            : "This browser has no passkeys here. Sign in with a link."}
        </p>
      )}
      {!isFresh && (
        <>
          <p class="hint">
            To change them, sign in again with a passkey or a new link. Then you have 10 minutes.
            {hasAccess() && (
              <>
                {" "}
                With Access, <a href="/cdn-cgi/access/logout">sign out of it</a> first.
              </>
            )}
          </p>
          {passkeys.some((passkey) => passkey.host === host) && <PasskeySignIn onSignedIn={onChange} />}
        </>
      )}
    </>
  );
}

function Add({ onChange }: { onChange: () => void }) {
  return (
    <FormDialog
      title="New passkey"
      submit="Continue"
      done="Added. You can sign in with it now."
      onSubmit={async ({ text }) => {
        const { publicKey } = await call<{ publicKey: NewPasskeyOptions }>("GET", "/passkeys/options");
        const credential = await makePasskey(publicKey);
        await call("POST", "/passkeys", { name: text("name"), credential });
        onChange();
      }}
    >
      <Name hint="For example, Work laptop. Next, the browser asks where to keep it." />
    </FormDialog>
  );
}

interface PasskeyProps {
  passkey: Passkey;
  onChange: () => void;
}

function Rename({ passkey: { id, name }, onChange }: PasskeyProps) {
  return (
    <FormDialog
      title="Rename the passkey"
      submit="Save"
      done="Saved"
      onSubmit={async ({ text }) => {
        await call("PATCH", `/passkeys/${id}`, { name: text("name") });
        onChange();
      }}
    >
      <Name value={name} />
    </FormDialog>
  );
}

function Remove({ passkey: { id, name }, onChange }: PasskeyProps) {
  return (
    <Confirm
      title={`Delete ${name}?`}
      submit="Delete"
      done="Deleted"
      onSubmit={async () => {
        await call("DELETE", `/passkeys/${id}`);
        onChange();
      }}
    >
      <p>
        It no longer signs you in. Sessions that began with it go on. Your device may still show it: delete it there.
      </p>
    </Confirm>
  );
}

function Name({ value, hint }: { value?: string; hint?: string }) {
  return <Input label="Name" hint={hint} name="name" required maxLength={100} defaultValue={value} />;
}
