import * as z from "zod";
import { examples } from "./examples.ts";
import { jsonResponse, type OperationSpec, tagged } from "./operation.ts";
import { auditOperations } from "./operator/audit.ts";
import { channelOperations } from "./operator/channels.ts";
import { erasureOperations } from "./operator/chats.ts";
import { keyOperations } from "./operator/keys.ts";
import { memberOperations } from "./operator/members.ts";
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
      description:
        "Returns the organization of the key, with what the operator limits. Needs no permission. Only the operator can change it.",
      responses: [
        jsonResponse(200, "The organization.", z.object({ organization: organizationSchema }), { organization }),
      ],
    },
  ]),
  ...keyOperations(KEY_SIDE),
  ...channelOperations(KEY_SIDE),
  ...templateOperations(KEY_SIDE),
  ...memberOperations(KEY_SIDE),
  ...statsOperations(KEY_SIDE),
  ...erasureOperations(KEY_SIDE),
  ...auditOperations(KEY_SIDE),
];
