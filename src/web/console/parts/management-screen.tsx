import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Empty, Skeleton } from "./states.tsx";

type Screens = typeof import("../management.ts")["SCREENS"];

interface ScreenProps {
  /** Its path below the organization. */
  name: string;
  /** The parts of the path after the name. */
  id: string | undefined;
  part: string | undefined;
}

let screens: Screens | null = null;

/**
 * A screen beside the inbox. Their code is fetched when the first is opened. A deploy removes the files of the version
 * before it, so a page that was left open may not find them any more: then it asks to be loaded again.
 */
export function ManagementScreen({ name, ...props }: ScreenProps): JSX.Element {
  const [isMissing, setMissing] = useState(false);
  const [isReady, setReady] = useState(screens !== null);
  useEffect(() => {
    if (isReady) return;
    import("../management.ts").then(
      (loaded) => {
        screens = loaded.SCREENS;
        setReady(true);
      },
      () => setMissing(true),
    );
  }, []);
  if (isMissing) return <Outdated />;
  const Shown = screens?.[name];
  return Shown ? <Shown {...props} /> : <Skeleton rows={6} />;
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
      There may be a new version of the console, or no connection. What you wrote in chats is kept.
    </Empty>
  );
}
