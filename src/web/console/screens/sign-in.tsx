import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ParleyError } from "../../../client/error.ts";
import { Input } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import { signIn } from "../session.ts";
import { AccessSignIn } from "./access.tsx";
import { Refusal } from "./refusal.tsx";

/** The first screen, if nobody is signed in. @param code that of the one-time link that opened the page, or null */
export function SignIn({ code }: { code: string | null }): JSX.Element {
  useEffect(() => {
    document.title = "Sign in · Parley";
  }, []);
  return (
    <main class="lone">
      <div class="box sign-in">
        <h1>Parley</h1>
        {code === null && (
          <p>
            <strong>Members</strong> sign in with a one-time link. Ask a colleague or the operator for a new one.
          </p>
        )}
        <AccessSignIn />
        <SignInForm code={code} />
      </div>
    </main>
  );
}

/** Signs in with the operator's token, or with the link that was opened. */
export function SignInForm({ code }: { code: string | null }): JSX.Element {
  const [refusal, setRefusal] = useState<ParleyError | null>(null);
  // Such a link never works again.
  const isLink = code !== null && refusal?.code !== "link_invalid";
  return (
    <Form
      submit="Sign in"
      onSubmit={async ({ text }) => {
        setRefusal(null);
        await signIn(isLink ? { code } : { token: text("token") }).catch(setRefusal);
      }}
    >
      {isLink ? (
        <p>This link signs you in once.</p>
      ) : (
        <Input
          label="Operator’s token"
          hint="The service’s ADMIN_TOKEN."
          name="token"
          type="password"
          autocomplete="current-password"
          required
          aria-invalid={refusal?.code === "wrong_token"}
        />
      )}
      {refusal && <Refusal error={refusal} />}
    </Form>
  );
}
