import { isOutage } from "../db/client.ts";
import type { Region } from "../db/schema.ts";
import { unavailable } from "../http/errors.ts";
import { type Jurisdiction, jurisdictionOf } from "../ids.ts";

/**
 * Calls the Durable Object that is named by an id, in the jurisdiction that the id's letter names. `region` is a hint
 * that counts only for the very first call, which decides where the object lives.
 *
 * A call that broke off is tried once more where the platform says that it may be, on a new stub, because an exception
 * can leave a stub broken; so each call must change nothing when it is repeated.
 * @throws ApiError `unavailable`, with the platform's error as its cause; what the object's own code threw, as it came
 * @see https://developers.cloudflare.com/durable-objects/best-practices/error-handling/
 */
export async function callObject<T extends Rpc.DurableObjectBranded, R>(
  namespace: DurableObjectNamespace<T>,
  id: string,
  call: (stub: DurableObjectStub<T>) => R,
  region?: Region | null,
): Promise<Awaited<R>> {
  const place = within(namespace, jurisdictionOf(id));
  const stub = () => place.getByName(id, region ? { locationHint: region } : {});
  try {
    return await call(stub());
  } catch (error) {
    if (!mayRetry(error)) throw isFault(error) ? error : unavailable(error);
  }
  try {
    return await call(stub());
  } catch (error) {
    throw isFault(error) ? error : unavailable(error);
  }
}

/**
 * Whether the object's own code failed, which no repetition would mend. The platform marks as `remote` whatever an
 * object threw and whatever threw the object out; what is not of its code has a further mark. The causes of an error
 * and its own properties come with it, its class does not.
 */
function isFault(error: unknown): boolean {
  const { remote, retryable, overloaded, durableObjectReset, code } = error as Record<string, unknown>;
  if (remote !== true || retryable === true || overloaded === true || durableObjectReset === true) return false;
  return code !== "unavailable" && !isOutage(error) && !isStorageOut(error);
}

/**
 * Whether an object's own storage did not do what it was asked: it is full or damaged, or the platform says no more
 * than `internal error`. A statement that is wrong is a fault of ours.
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
 * The local runtime has no jurisdictions and says so in this one way; objects then live in the plain namespace. Any
 * other failure must fail the call: data of a jurisdiction never falls back to anywhere.
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
