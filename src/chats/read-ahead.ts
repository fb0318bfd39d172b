import type { TaggedJson } from "../http/etag.ts";
import type { Caller } from "../keys/key-object.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import type { ChatsContext } from "./context.ts";

/** Which keys have read what here, and for whom: such a pair's next read is begun while the key is asked. */
const readers = perIsolate(() => new BoundedMap<string, Caller>(20_000));

type Read = (caller: Caller) => Promise<TaggedJson>;

/** Begins to read `what` for a key that has read it here: one hop beside the other, not after it. */
export function startReadAhead(c: ChatsContext, what: string, read: Read): void {
  const caller = readers(c.env).get(nameOf(c, what));
  if (!caller) return;
  const begun = read(caller);
  // Its failure is the request's own, and is met where it is awaited; a key that is refused never gets there.
  begun.catch(() => {});
  c.set("begun", begun);
}

/** What was begun, or is read only now. */
export async function finishReadAhead(c: ChatsContext, what: string, read: Read): Promise<TaggedJson> {
  const caller = c.get("caller");
  const answer = await (c.get("begun") ?? read(caller));
  readers(c.env).set(nameOf(c, what), caller);
  return answer;
}

function nameOf(c: ChatsContext, what: string): string {
  return JSON.stringify([c.get("key").hash, what]);
}
