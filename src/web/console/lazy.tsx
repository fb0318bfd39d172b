import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { fetchLater, laterComesFrom } from "../shared/fetch-later.ts";
import { MainButton } from "./parts/button.tsx";
import { Dialog } from "./parts/dialog.tsx";
import { Empty, Skeleton } from "./parts/states.tsx";
import { repeatLater } from "./repeat-later.ts";

type Screens = typeof import("./screens.ts");

const load = () => import("./screens.ts");
laterComesFrom(load);

const found = signal<Screens | "loading" | "missing">("loading");

/**
 * Fetches `screens.ts`, so that it is there when it is wanted. A deploy removes the files of the version before it, so a
 * page that was left open may no longer find it: then it asks to be loaded again. Without a connection, it is fetched
 * once there is one.
 */
export function fetchScreens(): void {
  if (typeof found.peek() !== "string") return;
  (fetchLater() as Promise<Screens>).then(
    (loaded) => (found.value = loaded),
    () => {
      found.value = "missing";
      repeatLater(fetchScreens);
    },
  );
}

interface LazyProps {
  /** Draws a component of `screens.ts`. */
  children: (screens: Screens) => JSX.Element;
}

/** What is in `screens.ts`, which is fetched when the first of it is drawn. */
export function Lazy({ children }: LazyProps): JSX.Element {
  useEffect(fetchScreens, []);
  const now = found.value;
  if (now === "missing") return <Outdated />;
  return now === "loading" ? <Skeleton rows={6} /> : children(now);
}

/** As `Lazy`, for a dialog. */
export function LazyDialog({ children }: LazyProps): JSX.Element | null {
  useEffect(fetchScreens, []);
  const now = found.value;
  if (now === "missing")
    return (
      <Dialog title="New version">
        <Outdated />
      </Dialog>
    );
  return now === "loading" ? null : children(now);
}

/** As `Lazy`, for what the page can do without. It does not fetch the code. */
export function LazyExtra({ children }: LazyProps): JSX.Element | null {
  const now = found.value;
  return typeof now === "string" ? null : children(now);
}

function Outdated() {
  return (
    <Empty
      icon="again"
      title="This can’t be loaded"
      action={<MainButton onClick={() => location.reload()}>Load the page again</MainButton>}
    >
      There is a new version, or no connection. What you wrote is kept.
    </Empty>
  );
}
