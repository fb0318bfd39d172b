import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import type { ScreenParts } from "../location.ts";
import { Button } from "./button.tsx";
import { Empty, Skeleton } from "./states.tsx";

type Screens = typeof import("../management.ts");

const screens = signal<Screens | "loading" | "missing">("loading");

function load(): void {
  if (typeof screens.peek() !== "string") return;
  void import("../management.ts").then(
    (loaded) => (screens.value = loaded),
    () => (screens.value = "missing"),
  );
}

/**
 * A screen whose code is fetched when it is opened first. A deploy removes the files of the version before it, so a page
 * that was left open may no longer find them: then it asks to be loaded again.
 */
export function lazyScreen(name: keyof Screens): ComponentType<ScreenParts> {
  return function LazyScreen(props: ScreenParts) {
    useEffect(load, []);
    if (screens.value === "missing") return <Outdated />;
    if (screens.value === "loading") return <Skeleton rows={6} />;
    const Screen = screens.value[name] as ComponentType<ScreenParts>;
    return <Screen {...props} />;
  };
}

function Outdated() {
  return (
    <Empty
      icon="again"
      title="This screen can’t be loaded"
      action={
        <Button class="button button-main" onClick={() => location.reload()}>
          Load the page again
        </Button>
      }
    >
      There is a new version, or no connection. What you wrote is kept.
    </Empty>
  );
}
