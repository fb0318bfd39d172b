import * as z from "zod";
import { ownOrganizationPatch } from "../management/organizations.ts";
import { examples } from "./examples.ts";
import { jsonResponse, type OperationSpec, tagged } from "./operation.ts";
import { auditOperations } from "./operator/audit.ts";
import { channelOperations } from "./operator/channels.ts";
import { erasureOperations } from "./operator/chats.ts";
import { keyOperations } from "./operator/keys.ts";
import { labelOperations } from "./operator/labels.ts";
import { memberOperations } from "./operator/members.ts";
import { ownSettings } from "./operator/organizations.ts";
import { replyOperations } from "./operator/replies.ts";
import { organizationSchema } from "./operator/resources.ts";
import { KEY_SIDE } from "./operator/side.ts";
import { statsOperations } from "./operator/stats.ts";
import { templateOperations } from "./operator/templates.ts";

const { organization } = examples;

/** The operations of keys that manage their organization. */
export const OWN_OPERATIONS: readonly OperationSpec[] = [
  ...tagged("Organization", [
    {
      route: "GET /organization",
      id: "readOwnOrganization",
      summary: "Read your organization",
      description: "Returns the organization of the key, with what the operator limits. Needs no permission.",
      responses: [
        jsonResponse(200, "The organization.", z.object({ organization: organizationSchema }), { organization }),
      ],
    },
    {
      route: "PATCH /organization",
      id: "changeOwnOrganization",
      summary: "Change your organization",
      description: "Changes what an organization decides itself. Only the operator can change its name and its limits.",
      body: {
        name: "OwnOrganizationPatch",
        description: "The fields to change.",
        schema: ownOrganizationPatch,
        descriptions: ownSettings,
        example: { assignOnAnswer: true },
      },
      responses: [
        jsonResponse(200, "The changed organization.", z.object({ organization: organizationSchema }), {
          organization: { ...organization, assignOnAnswer: true },
        }),
      ],
      errors: ["missing_field", "search_filled_today"],
    },
  ]),
  ...keyOperations(KEY_SIDE),
  ...channelOperations(KEY_SIDE),
  ...templateOperations(KEY_SIDE),
  ...replyOperations(KEY_SIDE),
  ...labelOperations(KEY_SIDE),
  ...memberOperations(KEY_SIDE),
  ...statsOperations(KEY_SIDE),
  ...erasureOperations(KEY_SIDE),
  ...auditOperations(KEY_SIDE),
];
