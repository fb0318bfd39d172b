import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Empty, Skeleton } from "./states.tsx";

/**
 * A screen whose code is fetched when it is opened first. A deploy removes the files of the version before it, so a page
 * that was left open may not find them any more: then it asks to be loaded again.
 */
export function lazyScreen<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function LazyScreen(props: Props): JSX.Element {
    const [state, setState] = useState<"loading" | "ready" | "missing">(loaded ? "ready" : "loading");
    useEffect(() => {
      if (loaded) return;
      let isMounted = true;
      load().then(
        (screen) => {
          loaded = screen;
          if (isMounted) setState("ready");
        },
        () => isMounted && setState("missing"),
      );
      return () => {
        isMounted = false;
      };
    }, []);
    if (state === "missing") return <Outdated />;
    const Screen = loaded;
    return Screen ? <Screen {...props} /> : <Skeleton rows={6} />;
  };
}

function Outdated(): JSX.Element {
  return (
    <Empty
      icon="again"
      title="This screen can’t be loaded"
      action={
        <button type="button" class="button button-main" onClick={() => location.reload()}>
          Load the page again
        </button>
      }
    >
      There is a new version, or no connection. What you wrote is kept.
    </Empty>
  );
}
