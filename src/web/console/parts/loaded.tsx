import type { ComponentChildren, JSX } from "preact";
import type { Pages } from "../pages.ts";
import type { Resource } from "../resource.ts";
import { Button } from "./button.tsx";
import { Failure, Skeleton } from "./states.tsx";

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
