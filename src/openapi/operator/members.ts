import * as z from "zod";
import { memberPatch, newMemberBody } from "../../management/members.ts";
import type { ErrorCode } from "../../model/error.ts";
import { PRESETS } from "../../model/permission.ts";
import { examples } from "../examples.ts";
import { jsonResponse, type OperationSpec, tagged } from "../operation.ts";
import { listResponse, pages } from "./lists.ts";
import { leftBehindSchema, memberSchema } from "./resources.ts";
import type { Side } from "./side.ts";

const { member, leftBehind } = examples;
const oneMember = z.object({ member: memberSchema });
const removed = z.object({ member: memberSchema, leftBehind: leftBehindSchema });
const changed = z.object({ member: memberSchema, leftBehind: leftBehindSchema.exactOptional() });
const GIVEN =
  "A key can't give permissions that it lacks, and a key with an end or an allow-list can give none. Else 403 `permission_denied`.";
const descriptions = {
  name: "The member's name.",
  publicName:
    "The name that contacts see of the member, at most 80 characters. Default: `name`. Null restores it. Messages keep the name with which they were sent.",
  email: "The member's email address.",
  permissions: `What the member may do in the console: a preset or a list. \`agent\` is ${PRESETS.agent.join(", ")}; \`viewer\` is ${PRESETS.viewer.join(", ")}; \`manager\` is all permissions. A preset is resolved when it is given: the response has the list. Default: \`agent\`, as far as the maker has its permissions.`,
};
const signInLink = z.object({
  url: z.string().describe("Opens the console. Its code works for one sign-in"),
  expiresAt: z.string().describe("When the link ends: after 24 hours"),
});

export function memberOperations({ isOperator, prefix, whose }: Side): readonly OperationSpec[] {
  const lastManager: ErrorCode[] = isOperator ? [] : ["last_manager"];
  const within = isOperator ? "" : " A key can't delete a member that has more permissions than it.";
  return tagged("Members", [
    {
      route: `POST ${prefix}/members`,
      id: "createMember",
      summary: "Add a member",
      description: `Adds a member. ${GIVEN}`,
      body: {
        name: "NewMember",
        description: "The member to add.",
        schema: newMemberBody,
        descriptions,
        example: { name: "Ada", email: "ada@acme.example", permissions: "agent" },
      },
      responses: [jsonResponse(201, "The member.", oneMember, { member })],
      errors: ["missing_field", "member_limit"],
    },
    {
      route: `GET ${prefix}/members`,
      id: "listMembers",
      summary: "List members",
      description: `Lists ${whose} members, oldest first. The first one is the sender of messages without a \`senderId\`.`,
      query: pages,
      responses: listResponse("members", memberSchema, member),
    },
    {
      route: "PATCH /members/{id}",
      id: "changeMember",
      summary: "Change a member",
      description: `Changes the fields that the body has. New permissions apply to the member's next request in the console. A permission that the member did not have signs it out everywhere, and deletes its passkeys. So does a change of an email that it had. Ends a sign-in link that was not used yet. ${GIVEN} This applies to the permissions before and after the change.`,
      body: {
        name: "MemberPatch",
        description: "The fields to change.",
        schema: memberPatch,
        descriptions,
        example: { permissions: ["chats:read", "messages:read"] },
      },
      responses: [
        jsonResponse(200, "The changed member. If it lost a permission, also what it leaves behind.", changed, {
          member,
        }),
      ],
      errors: ["missing_field", ...lastManager],
    },
    {
      route: "POST /members/{id}/sign-in-link",
      id: "createSignInLink",
      summary: "Create a sign-in link",
      description: `Creates a link that signs the member in to the console once, within 24 hours. Send it over a secure channel: whoever opens it first is the member. It replaces the link before it. It works only while its maker could still make it. ${GIVEN}`,
      responses: [
        jsonResponse(201, "The link. Only this response contains it.", signInLink, {
          url: "https://parley.example/console#code=mbr_gWq6pR2nVt70HsdE.9rTz2KcW5mXbQ8vYhL3nJ6pFsD1gA4uEoR7iCkVyZqB",
          expiresAt: "2026-11-21T10:00:00.000Z",
        }),
      ],
    },
    {
      route: "DELETE /members/{id}/sessions",
      id: "endSessions",
      summary: "End a member's sessions",
      description: "Signs the member out of the console everywhere, and deletes its sign-in link and its passkeys.",
      responses: [jsonResponse(200, "The member.", oneMember, { member })],
    },
    {
      route: "DELETE /members/{id}",
      id: "deleteMember",
      summary: "Delete a member",
      description: `Deletes a member, unless it is the organization's last one.${within} Within 10 seconds the member can no longer send.`,
      responses: [
        jsonResponse(
          200,
          "The deleted member, and what it leaves behind. That keeps working until you end it too.",
          removed,
          {
            member,
            leftBehind,
          },
        ),
      ],
      errors: ["last_member", ...lastManager],
    },
  ]);
}
