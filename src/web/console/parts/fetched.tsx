import type { FunctionComponent, JSX } from "preact";
import lazy from "preact-iso/lazy";
import { Screen } from "./screen.tsx";
import { Empty } from "./states.tsx";

/**
 * A screen whose code is fetched when it is opened. After a deploy, the file of an older page can be gone: then the
 * person loads the page again when nothing is lost by it.
 */
export function fetched<Props>(load: () => Promise<FunctionComponent<Props>>): FunctionComponent<Props> {
  return lazy(() => load().catch(() => NotFetched as FunctionComponent<Props>));
}

function NotFetched(): JSX.Element {
  return (
    <Screen title="Not loaded">
      <Empty
        icon="warning"
        title="This screen could not be loaded"
        action={
          <button type="button" class="button button-main" onClick={() => location.reload()}>
            Load the page again
          </button>
        }
      >
        The service was updated since you opened the page, or it can’t be reached.
      </Empty>
    </Screen>
  );
}
