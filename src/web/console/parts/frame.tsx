import type { ComponentChildren, JSX } from "preact";
import { type SignedIn, signOut } from "../api.ts";
import { WORDS } from "../words.ts";

/** What surrounds each screen of a person who is signed in. */
export function Frame({ session, children }: { session: SignedIn; children: ComponentChildren }): JSX.Element {
  return (
    <>
      <header class="bar">
        <a class="brand" href="/console">
          {WORDS.product}
        </a>
        <span class="who">
          <bdi>{session.member?.name ?? WORDS.operator}</bdi>
        </span>
        <button type="button" class="button" onClick={() => void signOut()}>
          {WORDS.signOut}
        </button>
      </header>
      <main class="screen">{children}</main>
    </>
  );
}
