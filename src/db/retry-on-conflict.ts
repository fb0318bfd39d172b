import { unavailable } from "../model/error.ts";

const MAX_TRIES = 10;

/** Calls `act` again while it returns null, because another request changed what it had read. */
export async function retryOnConflict<T>(id: string, act: () => Promise<T | null>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const result = await act();
    if (result !== null) return result;
  }
  throw unavailable(`${id} was changed by others ${MAX_TRIES} times in a row`);
}
