import { MOST, usePlace } from "../organization.ts";
import { type Resource, useResource } from "../resource.ts";
import type { Reply } from "./found-replies.ts";

/** All saved replies of the organization. What was loaded before is there while they are loaded again. */
export function useReplies(): Resource<Reply[]> {
  const { organization, api } = usePlace();
  return useResource(`list /replies ${organization.id}`, async (signal) => {
    const all: Reply[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const query = { limit: MOST, ...(after !== undefined && { after }) };
      const { replies, pagination } = await api.GET("/replies", { query, signal });
      all.push(...replies);
      after = pagination.cursor;
    }
    return all;
  });
}
