import * as z from "zod";
import { newMemberBody, newOrganizationBody, organizationPatch } from "../../admin/organizations.ts";
import { examples } from "../examples.ts";
import { jsonResponse, type OperationSpec } from "../operation.ts";
import { listResponse, pages } from "./lists.ts";
import { memberSchema, organizationSchema } from "./resources.ts";

const { organization, member } = examples;
const tag = "Organizations";
const chatLimit = "The maximum number of chats. Null: no limit. Messages from a network are always accepted.";
const oneOrganization = z.object({ organization: organizationSchema });
const oneMember = z.object({ member: memberSchema });

/** Organizations and their members. */
export const organizationOperations: readonly OperationSpec[] = [
  {
    method: "post",
    path: "/organizations",
    id: "createOrganization",
    tag,
    summary: "Create an organization",
    description: "Creates an organization and its first member. An organization always has at least one member.",
    body: {
      name: "NewOrganization",
      description: "The organization to create.",
      schema: newOrganizationBody,
      descriptions: {
        name: "The organization's name.",
        owner: "The first member. Messages without a `senderId` have this member as their sender.",
        "owner.name": "The member's name.",
        "owner.email": "The member's email address.",
        jurisdiction: "Where the organization's Durable Objects must run and store their data. Never changes.",
        region: "A hint where its chats should be stored.",
        limits: "What the organization may have at most.",
        "limits.chats": chatLimit,
      },
      example: { name: "Acme", owner: { name: "Ada", email: "ada@acme.example" }, region: "weur" },
    },
    responses: [
      jsonResponse(
        201,
        "The organization and its first member.",
        z.object({ organization: organizationSchema, member: memberSchema }),
        { organization, member },
      ),
    ],
    errors: ["missing_field"],
  },
  {
    method: "get",
    path: "/organizations",
    id: "listOrganizations",
    tag,
    summary: "List organizations",
    description: "Lists all organizations, oldest first.",
    query: pages,
    responses: listResponse("organizations", organizationSchema, organization),
  },
  {
    method: "get",
    path: "/organizations/{id}",
    id: "readOrganization",
    tag,
    summary: "Read an organization",
    description: "Returns one organization.",
    responses: [jsonResponse(200, "The organization.", oneOrganization, { organization })],
    errors: ["organization_not_found"],
  },
  {
    method: "patch",
    path: "/organizations/{id}",
    id: "changeOrganization",
    tag,
    summary: "Change an organization",
    description: "Changes the fields that the body has. Other fields stay.",
    body: {
      name: "OrganizationPatch",
      description: "The fields to change.",
      schema: organizationPatch,
      descriptions: {
        name: "The organization's name.",
        limits: "The limits to change. Null removes them all.",
        "limits.chats": chatLimit,
      },
      example: { limits: { chats: 100_000 } },
    },
    responses: [jsonResponse(200, "The changed organization.", oneOrganization, { organization })],
    errors: ["missing_field", "organization_not_found"],
  },
  {
    method: "delete",
    path: "/organizations/{id}",
    id: "deleteOrganization",
    tag,
    summary: "Delete an organization",
    description:
      "Deletes an organization with everything in it, keys first. One request deletes up to 500 objects. A 503 means that more is left: repeat the request. After the 200, another request is a 404.",
    responses: [jsonResponse(200, "The deleted organization.", oneOrganization, { organization })],
    errors: ["organization_not_found"],
  },
  {
    method: "post",
    path: "/organizations/{id}/members",
    id: "createMember",
    tag: "Members",
    summary: "Add a member",
    description: "Adds a member to an organization.",
    body: {
      name: "NewMember",
      description: "The member to add.",
      schema: newMemberBody,
      descriptions: { name: "The member's name.", email: "The member's email address." },
      example: { name: "Ada", email: "ada@acme.example" },
    },
    responses: [jsonResponse(201, "The member.", oneMember, { member })],
    errors: ["missing_field", "organization_not_found"],
  },
  {
    method: "get",
    path: "/organizations/{id}/members",
    id: "listMembers",
    tag: "Members",
    summary: "List members",
    description:
      "Lists an organization's members, oldest first. The first one is the sender of messages without a `senderId`.",
    query: pages,
    responses: listResponse("members", memberSchema, member),
    errors: ["organization_not_found"],
  },
  {
    method: "delete",
    path: "/members/{id}",
    id: "deleteMember",
    tag: "Members",
    summary: "Remove a member",
    description:
      "Removes a member, unless it is the organization's last one. Within 10 seconds the member can no longer send.",
    responses: [jsonResponse(200, "The removed member.", oneMember, { member })],
    errors: ["member_not_found", "last_member"],
  },
];
