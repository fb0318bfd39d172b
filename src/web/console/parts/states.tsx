import type { ComponentChildren, JSX } from "preact";
import { type ParleyError, textOf } from "../api.ts";
import type { Pages, Resource } from "../resource.ts";
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

interface LoadedProps<T> {
  resource: Pick<Resource<T>, "data" | "error" | "reload">;
  rows?: number;
  children: (data: T) => ComponentChildren;
}

/** Shows what was loaded, or that it is loading, or why it can't be. What was loaded before stays during a fault. */
export function Loaded<T>({ resource, rows = 5, children }: LoadedProps<T>) {
  const { data, error, reload } = resource;
  if (data === undefined) return error ? <Failure error={error} onRetry={reload} /> : <Skeleton rows={rows} />;
  return (
    <>
      {error && <Failure error={error} onRetry={reload} />}
      {children(data)}
    </>
  );
}

interface ListedProps<Row> {
  pages: Omit<Pages<Row>, "rows"> & { rows: LoadedProps<Row[]>["resource"] };
  /** What a list without rows shows. */
  empty: JSX.Element;
  children: (rows: Row[]) => ComponentChildren;
}

/** Shows a list that is loaded page by page. */
export function Listed<Row>({ pages, empty, children }: ListedProps<Row>) {
  return (
    <Loaded resource={pages.rows}>
      {(rows) =>
        rows.length === 0 ? (
          empty
        ) : (
          <>
            {children(rows)}
            {pages.hasMore && (
              <Button class="button more" aria-busy={pages.isLoadingMore} onClick={pages.more}>
                Show more
              </Button>
            )}
          </>
        )
      }
    </Loaded>
  );
}
