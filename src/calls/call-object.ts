import { isOutage } from "../db/client.ts";
import { unavailable } from "../model/error.ts";
import { type Jurisdiction, jurisdictionOf } from "../model/id.ts";
import type { Region } from "../model/region.ts";
import { SYSTEM_CLOCK } from "../platform/clock.ts";
import { inTime } from "../platform/deadline.ts";
import { warnIfFails } from "../platform/log.ts";
import { isQuotaRefusal } from "../platform/quota.ts";

/**
 * No region: an object that this call creates is stored near the caller. For an object that exists, that belongs near
 * whoever calls it first, or that is called by an object of its organization, which lies in the region already.
 */
export const NEARBY = null;

/**
 * Calls the Durable Object of an id, in the jurisdiction of the id.
 *
 * Calls must be idempotent: if the platform says that a failed call can be retried, it is retried once, on a new stub,
 * because an exception can break a stub.
 * @param region a hint to where the object is stored. Only its first call, which creates it, can give one
 * @param call makes the call; `isRepeat` if the first call failed, which may have reached the object
 * @throws ApiError `unavailable` if the platform failed, with its error as the cause; an error of the object's code as
 * is
 * @see https://developers.cloudflare.com/durable-objects/best-practices/error-handling/
 */
export async function callObject<T extends Rpc.DurableObjectBranded, R>(
  namespace: DurableObjectNamespace<T>,
  id: string,
  call: (stub: DurableObjectStub<T>, isRepeat: boolean) => R,
  region: Region | null,
): Promise<Awaited<R>> {
  const ids = within(namespace, jurisdictionOf(id));
  const stub = () => ids.getByName(id, region ? { locationHint: region } : {});
  try {
    return await call(stub(), false);
  } catch (error) {
    if (!mayRetry(error)) throw isFault(error) ? error : unavailable(error);
  }
  try {
    return await call(stub(), true);
  } catch (error) {
    throw isFault(error) ? error : unavailable(error);
  }
}

/**
 * Creates the object of a new record in its region, by a call that changes nothing. Whoever uses it first may be far away,
 * and objects don't move. If it fails, that first call creates the object.
 */
export async function placeObject<T extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<T>,
  id: string,
  call: (stub: DurableObjectStub<T>) => unknown,
  region: Region,
): Promise<void> {
  await warnIfFails({ event: "object_not_placed", id, region }, () => callObject(namespace, id, call, region));
}

/**
 * Waits for the answer to calls, but not longer than `ms`.
 * @throws ApiError `unavailable` if it takes longer. The calls go on
 */
export async function answerWithin<T>(ms: number, calls: () => Promise<T>): Promise<T> {
  const answer = await inTime(
    SYSTEM_CLOCK,
    ms,
    calls().then((value) => ({ value })),
  );
  if (!answer) throw unavailable(new Error(`There was no answer within ${ms} ms`));
  return answer.value;
}

/**
 * Whether the object's code failed, so that a retry can't help. The platform marks errors of the object's code, and
 * those that evicted the object, as `remote`; the latter have another mark too. Across RPC an error keeps its causes
 * and properties, but not its class.
 */
function isFault(error: unknown): boolean {
  const { remote, retryable, overloaded, durableObjectReset, code } = error as Record<string, unknown>;
  if (remote !== true || retryable === true || overloaded === true || durableObjectReset === true) return false;
  return code !== "unavailable" && ![isOutage, isQuotaRefusal, isStorageOut, isOlder].some((is) => is(error));
}

/** Whether an object lacks the method, because it still runs an earlier version: the deploy is not over. */
function isOlder(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("The RPC receiver does not implement");
}

/**
 * Whether an object's storage failed: it is full or damaged, or the platform only says `internal error`. A wrong
 * statement is a bug.
 */
function isStorageOut(error: unknown): boolean {
  const message = error instanceof Error ? error.message : "";
  return /SQLITE_(BUSY|FULL|IOERR|NOMEM|CORRUPT|NOTADB)|^internal error/.test(message);
}

function mayRetry(error: unknown): boolean {
  const { retryable, overloaded } = error as { retryable?: boolean; overloaded?: boolean };
  return retryable === true && overloaded !== true;
}

/**
 * The namespace of a jurisdiction. The local runtime has no jurisdictions, and throws this one error; then the plain
 * namespace is used. Any other error fails the call: data must never leave its jurisdiction.
 */
function within<T extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<T>,
  jurisdiction: Jurisdiction | null,
): DurableObjectNamespace<T> {
  if (!jurisdiction) return namespace;
  try {
    return namespace.jurisdiction(jurisdiction);
  } catch (error) {
    if (String(error).includes("not implemented in workerd")) return namespace;
    throw unavailable(error);
  }
}
