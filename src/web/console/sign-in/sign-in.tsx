import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ParleyError } from "../../../client/error.ts";
import { Input } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import { forgetLink, type LinkOffer, readLink, signIn } from "../session.ts";
import { AccessSignIn, Refusal } from "./access.tsx";
import { PasskeySignIn } from "./passkey-sign-in.tsx";

/** The first screen, if nobody is signed in. @param code that of the one-time link that opened the page, or null */
export function SignIn({ code }: { code: string | null }) {
  useEffect(() => {
    document.title = "Sign in · Parley";
  }, []);
  const dead = useSignal<ParleyError | null>(null);
  const isLink = code !== null && !dead.value;
  return (
    <main class="lone">
      <div class="box sign-in">
        <h1>Parley</h1>
        {dead.value && <Refusal error={dead.value} />}
        {isLink ? (
          <SignInForm code={code} onDead={(error) => (dead.value = error)} />
        ) : (
          <p>Sign in with a passkey, or a one-time link from a colleague or the operator.</p>
        )}
        <PasskeySignIn />
        <AccessSignIn />
        {!isLink && (
          <details>
            <summary>Sign in as the operator</summary>
            <SignInForm code={null} />
          </details>
        )}
      </div>
    </main>
  );
}

interface SignInFormProps {
  /** That of the link that was opened; null for the operator's token. */
  code: string | null;
  /** The link never works again. */
  onDead?: (error: ParleyError) => void;
}

/** Signs in with the link that was opened, or with the operator's token. */
export function SignInForm({ code, onDead }: SignInFormProps) {
  const refusal = useSignal<ParleyError | null>(null);
  const refuse = (error: ParleyError) => {
    if (error.code === "link_invalid") onDead?.(error);
    refusal.value = error;
  };
  return (
    <>
      {refusal.value && <Refusal error={refusal.value} />}
      <Form
        submit="Sign in"
        onSubmit={async ({ text }) => {
          refusal.value = null;
          await signIn(code !== null ? { code } : { token: text("token") }).catch(refuse);
        }}
      >
        {code !== null ? (
          <Offer code={code} onRefusal={refuse} />
        ) : (
          <Input
            label="Operator’s token"
            hint="The service’s ADMIN_TOKEN."
            name="token"
            type="password"
            autocomplete="current-password"
            required
            aria-invalid={refusal.value?.code === "wrong_token"}
          />
        )}
      </Form>
    </>
  );
}

/** Whom the link signs in, before it does. Somebody else may have sent it to a person who is signed in already. */
function Offer({ code, onRefusal }: { code: string; onRefusal: (error: ParleyError) => void }) {
  const offer = useSignal<LinkOffer | null>(null);
  useEffect(() => {
    readLink(code).then((found) => (offer.value = found), onRefusal);
  }, [code]);
  if (!offer.value) return <p>This link signs you in once.</p>;
  const { link, signedInAs } = offer.value;
  const now = signedInAs && (signedInAs.name ?? "the operator");
  return (
    <>
      <p>
        Sign in as{" "}
        {link.type === "member" ? (
          <>
            <strong>
              <bdi>{link.member.name}</bdi>
            </strong>{" "}
            of{" "}
            <strong>
              <bdi>{link.organization.name}</bdi>
            </strong>
          </>
        ) : (
          "the operator"
        )}
        ? The link works once.
      </p>
      {now !== null && (
        <p>
          You are signed in as <bdi>{now}</bdi>. This replaces that session in this browser.{" "}
          <a href="/console/" onClick={forgetLink}>
            Stay signed in as {now}
          </a>
        </p>
      )}
    </>
  );
}
