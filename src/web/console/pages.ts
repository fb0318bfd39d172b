import { useSignal } from "@preact/signals";
import { sayError } from "./parts/toast.tsx";
import { type Resource, useResource } from "./resource.ts";

/** The rows of a list that is loaded page by page. */
export interface Pages<Row> {
  rows: Omit<Resource<Row[]>, "refresh">;
  hasMore: boolean;
  isLoadingMore: boolean;
  more: () => void;
}

/** Which page of a list is asked for, as the query of a route. */
export interface PageQuery {
  limit: number;
  page?: number;
  before?: string;
  after?: string;
}

interface Page<Row> {
  rows: Row[];
  pagination: { hasMore: boolean; page?: number; cursor?: string | null };
}

const PAGE = 50;

/**
 * Loads the first page of a list, and the next ones when asked.
 * @param by the parameter that continues the list: the number of a page, or a cursor
 */
export function usePages<Row>(
  key: string,
  by: "page" | "before" | "after",
  load: (query: PageQuery, signal?: AbortSignal) => Promise<Page<Row>>,
): Pages<Row> {
  const isLoadingMore = useSignal(false);
  const first = useResource(key, (signal) => load({ limit: PAGE }, signal));
  const { refresh: _, ...rest } = first;
  const { data } = first;
  const next = data?.pagination.hasMore ? (data.pagination.cursor ?? (data.pagination.page ?? 1) + 1) : null;
  const more = async () => {
    if (!data || next === null || isLoadingMore.value) return;
    isLoadingMore.value = true;
    try {
      const { rows, pagination } = await load({ limit: PAGE, [by]: next });
      first.set({ rows: [...data.rows, ...rows], pagination });
    } catch (error) {
      sayError(error);
    } finally {
      isLoadingMore.value = false;
    }
  };
  return {
    rows: {
      ...rest,
      data: data?.rows,
      set: (rows) => data && first.set({ ...data, rows }),
    },
    hasMore: next !== null,
    isLoadingMore: isLoadingMore.value,
    more: () => void more(),
  };
}
