import * as z from "zod";
import { labelPatch, newLabelBody } from "../../management/labels.ts";
import { MAX_LABELS } from "../../model/label.ts";
import { examples } from "../examples.ts";
import { jsonResponse, type OperationSpec, tagged } from "../operation.ts";
import { labelSchema } from "./resources.ts";
import type { Side } from "./side.ts";

const { label } = examples;
const oneLabel = z.object({ label: labelSchema });
const { name, color } = label;

const descriptions = {
  name: "What people read. Unique in the organization; case, width and accents make no difference.",
  color: "The color in which it is shown, as `#rrggbb`. Null for none.",
};

export function labelOperations({ prefix, whose }: Side): readonly OperationSpec[] {
  return tagged("Labels", [
    {
      route: `GET ${prefix}/labels`,
      id: "listLabels",
      summary: "List labels",
      description: `Lists ${whose} labels, oldest first, all on one page.`,
      responses: [jsonResponse(200, "The labels.", z.object({ labels: z.array(labelSchema) }), { labels: [label] })],
    },
    {
      route: `POST ${prefix}/labels`,
      id: "createLabel",
      summary: "Create a label",
      description: `Creates a label. An organization can have ${MAX_LABELS}.`,
      body: {
        name: "NewLabel",
        description: "The label to create.",
        schema: newLabelBody,
        descriptions,
        example: { name, color },
      },
      responses: [jsonResponse(201, "The label.", oneLabel, { label: { ...label, chats: 0 } })],
      errors: ["missing_field", "label_exists", "label_limit"],
    },
    {
      route: `PATCH ${prefix}/labels/{labelId}`,
      id: "changeLabel",
      summary: "Change a label",
      description:
        "Changes the fields that the body has, at least one. A `color` that is null is removed. All chats that have the label show the new name at once.",
      body: {
        name: "LabelPatch",
        description: "The fields to change.",
        schema: labelPatch,
        descriptions,
        example: { color },
      },
      responses: [jsonResponse(200, "The changed label.", oneLabel, { label })],
      errors: ["missing_field", "label_exists"],
    },
    {
      route: `DELETE ${prefix}/labels/{labelId}`,
      id: "deleteLabel",
      summary: "Delete a label",
      description: "Deletes a label. No chat shows it from the response on, and no chat changes otherwise.",
      responses: [jsonResponse(200, "The deleted label.", oneLabel, { label })],
    },
  ]);
}
