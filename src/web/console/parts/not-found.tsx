import { MainButton } from "./button.tsx";
import { Screen } from "./screen.tsx";
import { Empty } from "./states.tsx";

export function NotFound() {
  return (
    <Screen title="Not found">
      <Empty
        icon="search"
        title="There is no screen at this address"
        action={<MainButton href="/console/">Go to the start</MainButton>}
      >
        It may have been deleted.
      </Empty>
    </Screen>
  );
}

/** An address outside of any organization, or in one that doesn't exist. */
export function Elsewhere() {
  return (
    <main class="lone lone-wide">
      <NotFound />
    </main>
  );
}
