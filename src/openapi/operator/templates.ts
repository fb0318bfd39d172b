import * as z from "zod";
import { newTemplateBody, templatePatch } from "../../management/templates.ts";
import { examples } from "../examples.ts";
import { jsonResponse, type OperationSpec, tagged } from "../operation.ts";
import { count } from "../typed-schema.ts";
import { listResponse, pages } from "./lists.ts";
import { templateSchema } from "./resources.ts";
import type { Side } from "./side.ts";

const { template } = examples;
const oneTemplate = z.object({ template: templateSchema });
const { name, language, body } = template;

const descriptions = {
  name: "The template's name. On a network that approves templates, the name that it approved.",
  language: "The template's language. On a network that approves templates, the language that it approved.",
  body: "The text, with `{{placeholders}}`. A placeholder has 1 to 64 letters, digits or underscores, and is not `__proto__`.",
};

export function templateOperations({ prefix, whose }: Side): readonly OperationSpec[] {
  return tagged("Templates", [
    {
      route: `POST ${prefix}/templates`,
      id: "createTemplate",
      summary: "Create a template",
      description: "Creates a template.",
      body: {
        name: "NewTemplate",
        description: "The template to create.",
        schema: newTemplateBody,
        descriptions,
        example: { name, language, body },
      },
      responses: [jsonResponse(201, "The template.", oneTemplate, { template })],
      errors: ["missing_field", "template_limit"],
    },
    {
      route: `GET ${prefix}/templates`,
      id: "listTemplates",
      summary: "List templates",
      description: `Lists ${whose} templates, oldest first.`,
      query: pages,
      responses: listResponse("templates", templateSchema, template),
    },
    {
      route: "GET /templates/{id}",
      id: "readTemplate",
      summary: "Read a template",
      description: "Returns one template.",
      responses: [jsonResponse(200, "The template.", oneTemplate, { template })],
    },
    {
      route: "PATCH /templates/{id}",
      id: "changeTemplate",
      summary: "Change a template",
      description: "Changes the fields that the body has. Messages that were sent with the template don't change.",
      body: {
        name: "TemplatePatch",
        description: "The fields to change.",
        schema: templatePatch,
        descriptions,
        example: { body },
      },
      responses: [jsonResponse(200, "The changed template.", oneTemplate, { template })],
      errors: ["missing_field", "template_synced"],
    },
    {
      route: "POST /channels/{id}/templates/sync",
      id: "syncTemplates",
      summary: "Sync templates",
      description:
        "Reads the templates of the channel's `settings.wabaId` from its network, and stores what differs. A template with the same name and language, the oldest one, becomes the network's. A missing one is created while the organization has room. One that the network no longer has gets the status `DELETED`. Nothing is deleted. The service also does this once a day, and when the network reports a change.",
      responses: [
        jsonResponse(
          200,
          "What was done.",
          z.object({
            created: count.describe("How many templates are new"),
            updated: count.describe("How many templates changed"),
            skipped: count.describe("How many can't be read, or are beyond the organization's limit"),
          }),
          { created: 2, updated: 1, skipped: 0 },
        ),
      ],
      errors: ["refused_by_network"],
    },
    {
      route: "DELETE /templates/{id}",
      id: "deleteTemplate",
      summary: "Delete a template",
      description: "Deletes a template. Messages that wait for delivery keep what they need of it.",
      responses: [jsonResponse(200, "The deleted template.", oneTemplate, { template })],
    },
  ]);
}
