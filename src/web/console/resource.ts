import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { asParleyError, type ParleyError } from "./api.ts";
import { isPassing, repeatLater } from "./repeat-later.ts";

/** What was loaded last by this key, so that a screen that is opened again shows it while it loads. */
const known = new Map<string, unknown>();
const MAX_KNOWN = 100;

export interface Resource<T> {
  data: T | undefined;
  /** Why the last load failed; null once one succeeds. */
  error: ParleyError | null;
  isLoading: boolean;
  /** When `data` was loaded, Unix milliseconds. */
  loadedAt: number;
  reload: () => void;
  /** Loads the data now, and answers it. @throws ParleyError */
  refresh: () => Promise<T>;
  /** Replaces the data with the answer to a change. The result of a load that began before is outdated. */
  set: (data: T) => void;
}

/** How the last load ended, and when one succeeded last, Unix milliseconds. */
interface LoadState {
  key: string | null;
  /** Which load of the screen it was: each reload is a new one. */
  turn: number;
  error: ParleyError | null;
  loadedAt: number;
}

/**
 * Loads what a screen shows, and loads it again if `key` or `version` changes, and once a connection works again after
 * it failed.
 * @param key names what is loaded; null loads nothing
 * @param version of what is loaded. What the screen shows stays until the new one is there
 */
export function useResource<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  version?: string | null,
): Resource<T> {
  const state = useSignal<LoadState>({ key: null, turn: 0, error: null, loadedAt: 0 });
  const turn = useSignal(0);
  const changes = useRef(0);
  const loading = useRef(load);
  loading.current = load;

  const take = (of: string, data: T) => {
    remember(of, data);
    state.value = { key: of, turn: turn.peek(), error: null, loadedAt: Date.now() };
  };

  useEffect(() => {
    if (key === null) return;
    const controller = new AbortController();
    let forget = () => {};
    loading.current(controller.signal).then(
      (data) => {
        if (controller.signal.aborted) return;
        take(key, data);
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const cause = asParleyError(error);
        state.value = { key, turn: turn.peek(), error: cause, loadedAt: state.peek().loadedAt };
        if (isPassing(cause)) forget = repeatLater(() => void turn.value++);
      },
    );
    return () => {
      controller.abort();
      forget();
    };
  }, [key, turn.value, version]);

  const isCurrent = () => state.value.key === key;
  const isLoading = () => key !== null && !(isCurrent() && state.value.turn === turn.value);
  return {
    data: key === null ? undefined : (known.get(key) as T | undefined),
    error: isCurrent() ? state.value.error : null,
    isLoading: isLoading(),
    loadedAt: state.value.loadedAt,
    reload: () => void turn.value++,
    refresh: async () => {
      const before = changes.current;
      const data = await load(new AbortController().signal);
      if (key !== null && changes.current === before) take(key, data);
      return data;
    },
    set: (data) => {
      if (key === null) return;
      const wasLoading = isLoading();
      changes.current++;
      take(key, data);
      if (wasLoading) turn.value++;
    },
  };
}

/** Forgets what was loaded by keys with this part, such as a route, because it changed. */
export function forget(part: string): void {
  for (const key of known.keys()) if (key.includes(part)) known.delete(key);
}

function remember(key: string, data: unknown): void {
  known.delete(key);
  known.set(key, data);
  const [oldest] = known.keys();
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
}
