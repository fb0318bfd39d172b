import { callOrganization } from "./call-organization.ts";
import { commitFenced } from "./change-fence.ts";

/**
 * Runs `commit`, a write to the directory that changes a member, so that it applies to the very next request of the
 * member's sessions. See `commitFenced`.
 * @param endedSince from the result of `commit`: the sessions that began by then have ended, Unix milliseconds; null if
 *   it ended none
 * @param isRemoval the change removes the member, whose chats are then unassigned
 * @throws ApiError `unavailable` if the organization's object could not be notified before, or not in time
 */
export function changeMember<R>(
  env: Env,
  { id, organizationId }: { id: string; organizationId: string },
  commit: () => Promise<R>,
  endedSince: (result: R) => number | null,
  isRemoval = false,
): Promise<R> {
  const leaving = isRemoval ? id : undefined;
  return commitFenced({
    begin: (change) =>
      callOrganization(env, organizationId, (object) => object.beginMemberChange(organizationId, change, leaving)),
    commit,
    end: (change, result) => {
      const since = endedSince(result);
      const ended = since === null ? null : { memberId: id, since };
      return callOrganization(env, organizationId, (object) =>
        object.endMemberChange(change, ended, ended ? leaving : undefined),
      );
    },
    notEnded: { event: "member_change_not_confirmed", organizationId },
  });
}
