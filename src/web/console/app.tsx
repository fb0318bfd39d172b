import { OrganizationFrame } from "./frame.tsx";
import { currentPath, useLinks } from "./location.ts";
import { Dialog } from "./parts/dialog.tsx";
import { Elsewhere } from "./parts/not-found.tsx";
import { Failure } from "./parts/states.tsx";
import { ToastKeys } from "./parts/toast.tsx";
import { useRepeat } from "./repeat-later.ts";
import { GoToInbox, Home } from "./screens/home.tsx";
import { beginSession, sessionState } from "./session.ts";
import { AccessSignIn } from "./sign-in/access.tsx";
import { PasskeySignIn } from "./sign-in/passkey-sign-in.tsx";
import { SignIn, SignInForm } from "./sign-in/sign-in.tsx";

export function App() {
  const now = sessionState.value;
  const error = now.state === "unknown" ? now.error : null;
  useRepeat(error, () => void beginSession());
  if (now.state === "unknown") {
    return <main class="lone">{now.error && <Failure error={now.error} onRetry={() => void beginSession()} />}</main>;
  }
  if (now.state === "out") return <SignIn key={now.code} code={now.code} />;
  return (
    <>
      <Screens />
      {now.isLost && (
        <Dialog title="Sign in again" isClosable={false}>
          <p class="stack">Your session has ended. What you wrote is kept.</p>
          {now.session.type === "operator" ? (
            <SignInForm code={null} />
          ) : (
            <>
              <p>Open a new sign-in link in this tab.</p>
              <PasskeySignIn />
            </>
          )}
          <AccessSignIn />
        </Dialog>
      )}
      <ToastKeys />
    </>
  );
}

function Screens() {
  useLinks();
  const [, first, organization, ...parts] = currentPath.value.split("/").filter(Boolean).map(decoded);
  if (first === undefined) return <Home />;
  if (first !== "o" || organization === undefined) return <Elsewhere />;
  if (parts.length === 0) return <GoToInbox of={organization} />;
  return <OrganizationFrame id={organization} parts={parts} />;
}

/** A part of an address; as it stands if it is malformed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
