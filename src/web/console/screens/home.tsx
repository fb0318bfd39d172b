import { useEffect } from "preact/hooks";
import { Lazy } from "../lazy.tsx";
import { route } from "../location.ts";
import { addressIn } from "../organization.ts";
import { currentSession } from "../session.ts";

/** Where a person goes after the sign-in: a member to the inbox, the operator to the list of organizations. */
export function Home() {
  const { organization } = currentSession();
  if (organization) return <GoToInbox of={organization.id} />;
  return (
    <main class="lone lone-wide">
      <Lazy>{({ Organizations }) => <Organizations />}</Lazy>
    </main>
  );
}

export function GoToInbox({ of }: { of: string }) {
  useEffect(() => route(addressIn(of, "inbox"), true), [of]);
  return <main class="lone" />;
}
