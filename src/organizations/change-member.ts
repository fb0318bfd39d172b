import { unavailable } from "../http/errors.ts";
import { causeOf } from "../log.ts";
import { callOrganization } from "./call-organization.ts";

/**
 * After `beginMemberChange` the object reads the directory for each request, for a minute. The commit must end within
 * that minute.
 */
const COMMIT_WITHIN_MS = 20_000;

/**
 * Runs `commit`, a write to the directory that changes a member, so that it applies to the very next request of the
 * member's sessions. The organization's object is told before and after. If the first call fails, nothing is written. If
 * the last one fails, the change applies all the same, and the object stops reading the directory a minute later.
 * @param endedSince from the result of `commit`: the sessions that began by then have ended, Unix milliseconds; null if it
 *   ended none
 * @throws ApiError `unavailable` if the object could not be told before, or not in time
 */
export async function changeMember<R>(
  env: Env,
  { id, organizationId }: { id: string; organizationId: string },
  commit: () => Promise<R>,
  endedSince: (result: R) => number | null,
): Promise<R> {
  const change = crypto.randomUUID();
  const began = Date.now();
  await callOrganization(env, organizationId, (object) => object.beginMemberChange(organizationId, change));
  const took = Date.now() - began;
  if (took > COMMIT_WITHIN_MS) throw unavailable(`telling the organization of a change took ${took} ms`);
  const result = await commit();
  const since = endedSince(result);
  const ended = since === null ? null : { memberId: id, since };
  try {
    await callOrganization(env, organizationId, (object) => object.endMemberChange(change, ended));
  } catch (error) {
    // Not thrown, because the change is written.
    console.warn({ event: "member_change_not_confirmed", organizationId, error: causeOf(error) });
  }
  return result;
}
