import { type JSX, render } from "preact";
import { LocationProvider, Route, Router } from "preact-iso/router";
import { followScheme } from "../shared/scheme.ts";
import { readViewer, type SignedIn, viewer } from "./api.ts";
import { FailureNotice } from "./parts/failure.tsx";
import { Frame } from "./parts/frame.tsx";
import { OrganizationsScreen } from "./screens/organizations.tsx";
import { SignInScreen } from "./screens/sign-in.tsx";

/**
 * Takes the code of a sign-in link out of the address. It is in the fragment, which browsers never send, and leaves the
 * history, so that nobody finds it there.
 */
function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code !== null) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** The code of the link that opened the page. A link signs in even if somebody else is signed in. */
let code = takeCode();

function Console(): JSX.Element | null {
  const { value } = viewer;
  if (value.state === "in") return <SignedInConsole session={value.session} />;
  if (value.state === "out") return <SignInScreen hasEnded={value.hasEnded} code={code} />;
  if (value.state === "unknown") return null;
  const { failure } = value;
  const text = "Nobody can sign in: the service has no ADMIN_TOKEN, or is down.";
  return (
    <main class="screen">
      <FailureNotice
        failure={failure.status === 503 ? { ...failure, text } : failure}
        onRetry={() => void readViewer()}
      />
    </main>
  );
}

function SignedInConsole({ session }: { session: SignedIn }): JSX.Element {
  // It has signed this person in, or was never used.
  code = null;
  const Start = () => <OrganizationsScreen session={session} />;
  return (
    <LocationProvider scope="/console">
      <Frame session={session}>
        <Router>
          <Route path="/console" component={Start} />
          <Route default component={Missing} />
        </Router>
      </Frame>
    </LocationProvider>
  );
}

function Missing(): JSX.Element {
  return (
    <>
      <h1>There is no such page</h1>
      <p>
        <a href="/console">Go to the start</a>
      </p>
    </>
  );
}

followScheme(null);
const root = document.getElementById("console");
if (root) render(<Console />, root);
if (code === null) void readViewer();
else viewer.value = { state: "out", hasEnded: false };
