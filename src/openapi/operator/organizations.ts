import * as z from "zod";
import { DEFAULT_MAX_KEYS } from "../../management/key-ceilings.ts";
import { organizationsQuery } from "../../management/organization-routes.ts";
import { newOrganizationBody, organizationPatch } from "../../management/organizations.ts";
import { ROW_CEILINGS, type RowKind } from "../../model/organization.ts";
import { examples } from "../examples.ts";
import { jsonResponse, tagged } from "../operation.ts";
import { listResponse, pages } from "./lists.ts";
import { memberSchema, organizationSchema } from "./resources.ts";

const { organization, member } = examples;
const limitsOf = {
  "limits.chats": "The maximum number of chats. Null: no limit. Messages from a network are always accepted.",
  "limits.members": rowLimit("members"),
  "limits.templates": rowLimit("templates"),
  "limits.channels": rowLimit("channels"),
};
const ceilingsOf = {
  "selfService.maxKeys": `The maximum number of keys that are not revoked. Null: ${DEFAULT_MAX_KEYS.toLocaleString("en")}.`,
  "selfService.maxPerSecond":
    "The maximum rate limit of a key, in requests for each second of its window. Null: no ceiling.",
  "selfService.monthlyQuota":
    "The maximum sum of the quotas of all keys, including those revoked this month. Null: no ceiling.",
};
/** What an organization sets itself. */
export const ownSettings = {
  assignOnAnswer:
    "Whether a chat without an assignee is assigned to the member who answers it in the console. `false` at first, and null sets it so again.",
  search:
    "The search over all messages, `GET /messages`. Turning it on also indexes, in the background, what was said before, at most once in 24 hours: else the response is a 409 `search_filled_today`. Turning it off deletes the index. A key needs `channels:write` and `messages:read`, and for other fields `members:write`.",
  "search.on": "Whether it is on.",
};

const oneOrganization = z.object({ organization: organizationSchema });

export const organizationOperations = tagged("Organizations", [
  {
    route: "POST /organizations",
    id: "createOrganization",
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
        region: "A hint for where its chats, channels and webhooks should be stored.",
        limits: "The organization's limits.",
        ...limitsOf,
        selfService:
          "Lets keys with `keys:write` manage the organization's keys, within these ceilings. Default: only the operator manages keys.",
        ...ceilingsOf,
        temporary:
          "Whether it is for a test: `parley doctor --smoke` deletes it after an hour. `false` by default. Never changes.",
        search: "The search over all messages.",
        "search.on": "Whether it is on. `true` by default.",
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
    route: "GET /organizations",
    id: "listOrganizations",
    summary: "List organizations",
    description: "Lists all organizations, oldest first.",
    query: {
      schema: organizationsQuery,
      descriptions: { ...pages.descriptions, temporary: "Only temporary organizations." },
    },
    responses: listResponse("organizations", organizationSchema, organization),
  },
  {
    route: "GET /organizations/{id}",
    id: "readOrganization",
    summary: "Read an organization",
    description: "Returns one organization.",
    responses: [jsonResponse(200, "The organization.", oneOrganization, { organization })],
  },
  {
    route: "PATCH /organizations/{id}",
    id: "changeOrganization",
    summary: "Change an organization",
    description: "Changes the fields that the body has. Other fields stay.",
    body: {
      name: "OrganizationPatch",
      description: "The fields to change.",
      schema: organizationPatch,
      descriptions: {
        ...ownSettings,
        name: "The organization's name.",
        limits: "The limits to change. Others stay. Null resets them all.",
        ...limitsOf,
        selfService:
          "Lets keys with `keys:write` manage the organization's keys, within these ceilings. Null: only the operator manages keys. Keys that are beyond a lowered ceiling stay as they are.",
        ...ceilingsOf,
      },
      example: { limits: { chats: 100_000 } },
    },
    responses: [jsonResponse(200, "The changed organization.", oneOrganization, { organization })],
    errors: ["missing_field", "search_filled_today"],
  },
  {
    route: "DELETE /organizations/{id}",
    id: "deleteOrganization",
    summary: "Delete an organization",
    description:
      "Deletes an organization with everything in it, keys first. One request deletes up to 500 objects. A 503 means that more is left: repeat the request. After the 200, another request is a 404.",
    responses: [jsonResponse(200, "The deleted organization.", oneOrganization, { organization })],
  },
]);

function rowLimit(kind: RowKind): string {
  return `The maximum number of ${kind}. Null: ${ROW_CEILINGS[kind].toLocaleString("en")}.`;
}
