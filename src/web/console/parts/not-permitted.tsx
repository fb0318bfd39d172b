import { Screen } from "./screen.tsx";
import { Empty } from "./states.tsx";

/** In place of a screen for people with a permission, says which one is lacking. */
export function NotPermitted({ permission, title }: { permission: string; title: string }) {
  return (
    <Screen title={title}>
      <Empty icon="key" title="You don’t have access to this">
        You need the permission <code>{permission}</code>. The operator or a colleague can give it to you.
      </Empty>
    </Screen>
  );
}
