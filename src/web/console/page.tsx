import { render } from "preact";
import { followScheme } from "../shared/scheme.ts";
import { App } from "./app.tsx";
import { beginSession } from "./session.ts";

const root = document.getElementById("console");
if (root) {
  followScheme(null);
  render(<App />, root);
  void beginSession();
}
