import * as z from "zod";
import { newTemplateBody, templatePatch } from "../../management/templates.ts";
import { examples } from "../examples.ts";
import { jsonResponse, type OperationSpec } from "../operation.ts";
import { listResponse, pages } from "./lists.ts";
import { templateSchema } from "./resources.ts";
import type { Side } from "./side.ts";

const { template } = examples;
const tag = "Templates";
const oneTemplate = z.object({ template: templateSchema });
const { name, language, body } = template;

const descriptions = {
  name: "The template's name. On a network that approves templates, the name that it approved.",
  language: "The template's language. On a network that approves templates, the language that it approved.",
  body: "The text, with `{{placeholders}}`. A placeholder has 1 to 64 letters, digits or underscores.",
};

/** Templates. */
export function templateOperations({ prefix, ofOrganization, whose }: Side): readonly OperationSpec[] {
  return [
    {
      method: "post",
      path: `${prefix}/templates`,
      id: "createTemplate",
      tag,
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
      errors: ["missing_field", "template_limit", ...ofOrganization],
    },
    {
      method: "get",
      path: `${prefix}/templates`,
      id: "listTemplates",
      tag,
      summary: "List templates",
      description: `Lists ${whose} templates, oldest first.`,
      query: pages,
      responses: listResponse("templates", templateSchema, template),
      errors: [...ofOrganization],
    },
    {
      method: "get",
      path: "/templates/{id}",
      id: "readTemplate",
      tag,
      summary: "Read a template",
      description: "Returns one template.",
      responses: [jsonResponse(200, "The template.", oneTemplate, { template })],
      errors: ["template_not_found"],
    },
    {
      method: "patch",
      path: "/templates/{id}",
      id: "changeTemplate",
      tag,
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
      errors: ["missing_field", "template_not_found"],
    },
    {
      method: "delete",
      path: "/templates/{id}",
      id: "deleteTemplate",
      tag,
      summary: "Delete a template",
      description: "Deletes a template. Messages that wait for delivery keep what they need of it.",
      responses: [jsonResponse(200, "The deleted template.", oneTemplate, { template })],
      errors: ["template_not_found"],
    },
  ];
}
