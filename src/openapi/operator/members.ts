import * as z from "zod";
import { newMemberBody } from "../../admin/organizations.ts";
import { examples } from "../examples.ts";
import { jsonResponse, type OperationSpec } from "../operation.ts";
import { listResponse, pages } from "./lists.ts";
import { memberSchema } from "./resources.ts";
import type { Side } from "./side.ts";

const { member } = examples;
const tag = "Members";
const oneMember = z.object({ member: memberSchema });

/** Members. */
export function memberOperations({ prefix, needs, ofOrganization, whose }: Side): readonly OperationSpec[] {
  return [
    {
      method: "post",
      path: `${prefix}/members`,
      id: "createMember",
      tag,
      ...needs("members:write"),
      summary: "Add a member",
      description: "Adds a member.",
      body: {
        name: "NewMember",
        description: "The member to add.",
        schema: newMemberBody,
        descriptions: { name: "The member's name.", email: "The member's email address." },
        example: { name: "Ada", email: "ada@acme.example" },
      },
      responses: [jsonResponse(201, "The member.", oneMember, { member })],
      errors: ["missing_field", ...ofOrganization],
    },
    {
      method: "get",
      path: `${prefix}/members`,
      id: "listMembers",
      tag,
      ...needs("members:read"),
      summary: "List members",
      description: `Lists ${whose} members, oldest first. The first one is the sender of messages without a \`senderId\`.`,
      query: pages,
      responses: listResponse("members", memberSchema, member),
      errors: [...ofOrganization],
    },
    {
      method: "delete",
      path: "/members/{id}",
      id: "deleteMember",
      tag,
      ...needs("members:write"),
      summary: "Remove a member",
      description:
        "Removes a member, unless it is the organization's last one. Within 10 seconds the member can no longer send.",
      responses: [jsonResponse(200, "The removed member.", oneMember, { member })],
      errors: ["member_not_found", "last_member"],
    },
  ];
}
