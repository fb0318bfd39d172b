import * as z from "zod";
import { newMemberBody, newOrganizationBody } from "../../admin/organizations.ts";
import * as schemas from "../answers.ts";
import * as examples from "../examples.ts";
import { answered, type Operation } from "../operation.ts";
import { listed, pages } from "./lists.ts";

const { organization, member } = examples;
const tag = "Organizations";
const oneOrganization = z.object({ organization: schemas.organization });
const oneMember = z.object({ member: schemas.member });

/** Organizations and their members. */
export const organizationOperations: readonly Operation[] = [
  {
    method: "post",
    path: "/organizations",
    id: "createOrganization",
    tag,
    summary: "Make an organization",
    description: "An organization and its first member: it never is without one.",
    body: {
      name: "NewOrganization",
      description: "An organization to make.",
      schema: newOrganizationBody,
      descriptions: {
        name: "What it is called.",
        owner: "Its first member, who sends where a message names no sender.",
        "owner.name": "What they are called.",
        "owner.email": "Their e-mail address.",
        jurisdiction: "Where its objects must live. Never changes.",
        region: "A hint where its objects should live.",
      },
      example: { name: "Acme", owner: { name: "Ada", email: "ada@acme.example" }, region: "weur" },
    },
    answers: [
      answered(
        201,
        "The organization and its first member.",
        z.object({ organization: schemas.organization, member: schemas.member }),
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
    description: "All organizations, oldest first.",
    query: pages,
    answers: listed("organizations", schemas.organization, organization),
  },
  {
    method: "get",
    path: "/organizations/{id}",
    id: "readOrganization",
    tag,
    summary: "Read an organization",
    description: "One organization.",
    answers: [answered(200, "The organization.", oneOrganization, { organization })],
    errors: ["organization_not_found"],
  },
  {
    method: "delete",
    path: "/organizations/{id}",
    id: "deleteOrganization",
    tag,
    summary: "Erase an organization",
    description:
      "Erases all that it holds, messages too, its keys first, some hundred objects a request. A 503 means that more is left: repeat the request. Once it was answered 200, a repetition is 404.",
    answers: [answered(200, "The organization, as it was.", oneOrganization, { organization })],
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
      description: "A member to add.",
      schema: newMemberBody,
      descriptions: { name: "What they are called.", email: "Their e-mail address." },
      example: { name: "Ada", email: "ada@acme.example" },
    },
    answers: [answered(201, "The member.", oneMember, { member })],
    errors: ["missing_field", "organization_not_found"],
  },
  {
    method: "get",
    path: "/organizations/{id}/members",
    id: "listMembers",
    tag: "Members",
    summary: "List members",
    description: "An organization's members, oldest first. The first one sends where a message names no sender.",
    query: pages,
    answers: listed("members", schemas.member, member),
    errors: ["organization_not_found"],
  },
  {
    method: "delete",
    path: "/members/{id}",
    id: "deleteMember",
    tag: "Members",
    summary: "Remove a member",
    description: "Removes a member, unless it is the organization's last. A removed member is never a sender.",
    answers: [answered(200, "The member, as it was.", oneMember, { member })],
    errors: ["member_not_found", "last_member"],
  },
];
