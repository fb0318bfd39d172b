import { signal } from "@preact/signals";
import type { ComponentType, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Empty, Skeleton } from "./states.tsx";

/**
 * Components whose code is fetched when the first of them is drawn. A deploy removes the files of the version before it,
 * so a page that was left open may no longer find them: then it asks to be loaded again.
 */
export function lazyModule<M>(load: () => Promise<M>) {
  const found = signal<M | "loading" | "missing">("loading");
  const fetchIt = (): void => {
    if (typeof found.peek() !== "string") return;
    void load().then(
      (loaded) => (found.value = loaded),
      () => (found.value = "missing"),
    );
  };
  return {
    fetchIt,
    /** As `part`, for what the page can do without. It does not fetch the code. */
    extra<P extends object>(choose: (loaded: M) => ComponentType<P>) {
      return function LazyExtra(props: P): JSX.Element | null {
        const now = found.value;
        if (typeof now === "string") return null;
        const Part = choose(now);
        return <Part {...props} />;
      };
    },
    /** @param choose one component of the module */
    part<P extends object>(choose: (loaded: M) => ComponentType<P>) {
      return function LazyPart(props: P): JSX.Element {
        useEffect(fetchIt, []);
        const now = found.value;
        if (now === "missing") return <Outdated />;
        if (now === "loading") return <Skeleton rows={6} />;
        const Part = choose(now as M);
        return <Part {...props} />;
      };
    },
    /** As `part`, for a dialog. */
    dialog<P extends object>(choose: (loaded: M) => ComponentType<P>) {
      return function LazyDialog(props: P): JSX.Element | null {
        useEffect(fetchIt, []);
        const now = found.value;
        if (now === "loading") return null;
        if (now === "missing")
          return (
            <Dialog title="New version">
              <Outdated />
            </Dialog>
          );
        const Part = choose(now as M);
        return <Part {...props} />;
      };
    },
  };
}

function Outdated() {
  return (
    <Empty
      icon="again"
      title="This can’t be loaded"
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
