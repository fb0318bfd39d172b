import type { ComponentChildren, JSX } from "preact";
import type { Permission } from "../../../keys/permissions.ts";
import { may } from "../session.ts";
import { Screen } from "./screen.tsx";
import { Empty } from "./states.tsx";

interface PermittedProps {
  permission: Permission;
  /** The title of the screen. */
  title: string;
  children: ComponentChildren;
}

/** A screen for people with a permission. Others are told which one they lack. */
export function Permitted({ permission, title, children }: PermittedProps): JSX.Element {
  if (may(permission)) return <>{children}</>;
  return (
    <Screen title={title}>
      <Empty icon="key" title="You may not see this">
        You need the permission <code>{permission}</code>. The operator, or a colleague who has it, can give it to you.
      </Empty>
    </Screen>
  );
}
