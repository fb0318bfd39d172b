import type { JsonWithETag } from "../http/etag.ts";
import { isSearch } from "../http/validation.ts";
import type { WellFormedKey } from "../keys/well-formed-key.ts";
import type { Caller } from "../model/caller.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import type { ChatsContext } from "./context.ts";

/** The callers of the keys that have read a resource in this isolate, by key and resource. */
const readers = perIsolate(() => new BoundedMap<string, Caller>(20_000));

type Read = (caller: Caller) => Promise<JsonWithETag>;

/**
 * Starts to read a resource that the key has read here before. The read and the check of the key run in parallel. A
 * search is not started, because its entry in the audit log comes first.
 */
export function startReadAhead(c: ChatsContext, resource: string, read: Read): void {
  if (isSearch(c.req.url)) return;
  const caller = readers(c.env).get(nameOf(c.get("key"), resource));
  if (!caller) return;
  const answer = read(caller);
  // `finishReadAhead` reports a failure. If the key is refused, nobody does.
  answer.catch(() => {});
  c.set("readAhead", { answer, permissions: caller.permissions });
}

/** Returns the read that was started, or reads now. Also reads now if the key's permissions have changed. */
export async function finishReadAhead(c: ChatsContext, resource: string, read: Read): Promise<JsonWithETag> {
  const caller = c.get("caller");
  const readAhead = c.get("readAhead");
  const isSame = readAhead?.permissions.join() === caller.permissions.join();
  const answer = await (readAhead && isSame ? readAhead.answer : read(caller));
  const key = c.get("key");
  const name = key && nameOf(key, resource);
  // A busy key has the same caller for half a second.
  if (name && readers(c.env).get(name) !== caller) readers(c.env).set(name, caller);
  return answer;
}

function nameOf(key: WellFormedKey | undefined, resource: string): string {
  return JSON.stringify([key?.hash, resource]);
}
