import * as z from "zod";
import { newTemplateBody, templatePatch } from "../../admin/templates.ts";
import * as schemas from "../answers.ts";
import * as examples from "../examples.ts";
import { answered, type Operation } from "../operation.ts";
import { listed, pages } from "./lists.ts";

const { template } = examples;
const tag = "Templates";
const oneTemplate = z.object({ template: schemas.template });
const { name, language, body } = template;

const descriptions = {
  name: "What it is called; on WhatsApp the name under which Meta approved it.",
  language: "Its language; on WhatsApp the one under which Meta approved it.",
  body: "Its text, with `{{placeholders}}` of 1 to 64 letters, digits or underscores.",
};

/** Templates. */
export const templateOperations: readonly Operation[] = [
  {
    method: "post",
    path: "/organizations/{id}/templates",
    id: "createTemplate",
    tag,
    summary: "Make a template",
    description: "Adds a template to an organization.",
    body: {
      name: "NewTemplate",
      description: "A template to make.",
      schema: newTemplateBody,
      descriptions,
      example: { name, language, body },
    },
    answers: [answered(201, "The template.", oneTemplate, { template })],
    errors: ["missing_field", "organization_not_found"],
  },
  {
    method: "get",
    path: "/organizations/{id}/templates",
    id: "listTemplates",
    tag,
    summary: "List templates",
    description: "An organization's templates, oldest first.",
    query: pages,
    answers: listed("templates", schemas.template, template),
    errors: ["organization_not_found"],
  },
  {
    method: "get",
    path: "/templates/{id}",
    id: "readTemplate",
    tag,
    summary: "Read a template",
    description: "One template.",
    answers: [answered(200, "The template.", oneTemplate, { template })],
    errors: ["template_not_found"],
  },
  {
    method: "patch",
    path: "/templates/{id}",
    id: "changeTemplate",
    tag,
    summary: "Change a template",
    description: "What is left out stays. Messages that were sent with it keep what they were sent with.",
    body: {
      name: "TemplatePatch",
      description: "What to change.",
      schema: templatePatch,
      descriptions,
      example: { body },
    },
    answers: [answered(200, "The template after the change.", oneTemplate, { template })],
    errors: ["missing_field", "template_not_found"],
  },
  {
    method: "delete",
    path: "/templates/{id}",
    id: "deleteTemplate",
    tag,
    summary: "Delete a template",
    description: "Deletes a template. Messages that wait with it keep what they need of it.",
    answers: [answered(200, "The template, as it was.", oneTemplate, { template })],
    errors: ["template_not_found"],
  },
];
