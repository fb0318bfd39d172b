import { render } from "preact";
import { followScheme } from "../shared/scheme.ts";
import { App } from "./app.tsx";
import { repeatNow } from "./repeat-later.ts";
import { beginSession, keepSession, signedInElsewhere } from "./session.ts";

const KEEP_EVERY_MS = 3_600_000;

const root = document.getElementById("console");
if (root) {
  followScheme(null);
  render(<App />, root);
  void beginSession();
  setInterval(() => void keepSession(), KEEP_EVERY_MS);
  // A link that is opened in this tab changes the fragment alone.
  addEventListener("hashchange", () => location.hash.includes("code=") && void beginSession());
  addEventListener("storage", signedInElsewhere);
  addEventListener("online", repeatNow);
  // Going back after a sign-out must not show the page as it was.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}
