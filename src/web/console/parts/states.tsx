import type { ComponentChildren, JSX } from "preact";
import { type ParleyError, textOf } from "../api.ts";
import { may } from "../session.ts";
import { Button } from "./button.tsx";
import { Copyable } from "./copy.tsx";
import { Icon, type IconName } from "./icon.tsx";

/** Gray bars in place of what is loading. They appear after a moment, because most loads are quick. */
export function Skeleton({ rows = 5 }: { rows?: number }) {
  return (
    <div class="skeleton" role="status">
      <span class="hidden">Loading</span>
      {Array.from({ length: rows }, (_, n) => (
        <div key={n} class="skeleton-row" />
      ))}
    </div>
  );
}

interface EmptyProps {
  icon: IconName;
  title: string;
  /** What the screen is for. */
  children: ComponentChildren;
  action?: JSX.Element | null;
  /** The command that does the same, for those who make keys for programs. */
  command?: string | undefined;
}

/** A screen without anything yet: what it is for, one action, and the command for it. */
export function Empty({ icon, title, children, action = null, command }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      <p>{children}</p>
      {action}
      {command && may("keys:write") && (
        <p class="stack note">
          <span>Or in a terminal:</span> <Copyable text={command} />
        </p>
      )}
    </div>
  );
}

/** What went wrong, with what a person needs to ask for help. */
export function Failure({ error, onRetry }: { error: ParleyError; onRetry?: () => void }) {
  return (
    <div class="notice tone-bad" role="alert">
      <Icon name="warning" />
      <div>
        <p>{textOf(error)}</p>
        <p class="small">
          <code>{error.code}</code>
          {error.requestId && (
            <>
              {" · request "}
              <Copyable text={error.requestId} />
            </>
          )}
        </p>
      </div>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
