import * as z from "zod";
import { auditQuery, type presentEntry } from "../../management/audit-entries.ts";
import { ACTOR_ROWS_A_DAY, ORGANIZATION_ROWS_A_DAY } from "../../model/audit.ts";
import { examples } from "../examples.ts";
import { type OperationSpec, tagged } from "../operation.ts";
import { group, id, oneOf, resource, text, textOrNull, time } from "../typed-schema.ts";
import { walkResponse } from "./lists.ts";
import type { Side } from "./side.ts";

const shown = (count: number) => count.toLocaleString("en");
const { key, organization } = examples;

const auditEntrySchema = resource<ReturnType<typeof presentEntry>>()(
  "AuditEntry",
  "What somebody did in an organization. It has names of fields, and never their values.",
  z.object({
    id: id("entry"),
    at: time("When it began"),
    actor: group("Who did it", {
      type: oneOf(["operator", "key", "member"], "What the actor is"),
      id: text("The id of the key or of the member, or `operator`"),
      name: text("The actor's name at that time"),
    }),
    action: text("What was done, as the resource and the verb, such as `key.rotate`"),
    target: textOrNull(
      "The id of the resource that it was done to. Null for a search in all chats, and for an id that is malformed",
    ),
    status: z
      .int()
      .nullable()
      .describe(
        "The status of the response. Null while the request runs. Null afterward: the request was interrupted, and its change may have been made",
      ),
    requestId: text("The `X-Request-Id` of the response"),
    changed: z
      .array(z.string())
      .describe("The names of the fields that the request set. Empty unless it created or changed something"),
    count: z
      .int()
      .describe(
        "How many requests the entry stands for: the searches of an actor in an hour share one, and so do those that continue an export. Else 1",
      ),
    linkBy: textOrNull(
      "Who made the sign-in link with which the actor's session began: the id of a key or a member, or `operator`. Null without such a session",
    ),
  }),
);

const entry = {
  id: "aud_g0UZh3kQw8Ls03Pq",
  at: "2026-11-20T10:00:17.062Z",
  actor: { type: "key" as const, id: key.id, name: key.name },
  action: "organization.export",
  target: organization.id,
  status: 200,
  requestId: "0d4f7c1e-55a8-4c1b-9b57-1f3f2f0f7b7e",
  changed: [],
  count: 1,
  linkBy: null,
};

export function auditOperations({ prefix, whose }: Side): readonly OperationSpec[] {
  return tagged("Audit log", [
    {
      route: `GET ${prefix}/audit`,
      id: "listAuditEntries",
      summary: "List the audit log",
      description: `Lists the entries of ${whose} audit log, newest first: every change of the management, by the operator, keys and members, and every search and export. An entry is stored before the act. If it can't be stored, the response is a 503, and nothing is done. Revoking a key, removing a member, signing a member out and disabling a webhook don't wait for their entry. Searches of an actor in an hour share an entry, and so do the requests that continue an export. Beyond ${shown(ACTOR_ROWS_A_DAY)} entries of an actor or ${shown(ORGANIZATION_ROWS_A_DAY)} of the organization in a day (UTC), requests of keys and members are a 409 \`audit_full\`. A request without the route's permission, or with a body or query of the wrong form, has no entry. A request that is refused later has an entry. Entries are kept for 400 days. A page can be short while \`hasMore\` is true, because a filter examines at most 10,000 entries.`,
      query: {
        schema: auditQuery,
        descriptions: {
          limit: "The maximum number of entries in a page.",
          before: "The `cursor` of the previous page. Default: the newest entries.",
          actor: "Only what this key or member did, by its id, or `operator`.",
          action: "Only this action.",
          target: "Only what was done to this resource, by its id.",
        },
      },
      responses: walkResponse("entries", auditEntrySchema, entry, "the audit log"),
    },
  ]);
}
