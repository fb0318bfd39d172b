import { text } from "node:stream/consumers";
import { command, ORGANIZATION_OPTION, PAGE_OPTIONS } from "../command.ts";

const FIELDS = {
  name: { type: "string", value: "name", about: "the name; of WhatsApp's, that under which Meta approved it" },
  language: { type: "string", value: "code", about: "the language, as en_US" },
  body: { type: "string", value: "text", about: "the text with {{placeholders}}; - reads it from standard input" },
} as const;

/** Templates of messages, for the operator. */
export const templateCommands = [
  command({
    name: "templates list",
    about: "An organization's templates, oldest first",
    options: { ...ORGANIZATION_OPTION, ...PAGE_OPTIONS },
    async run({ options: { organization, page, limit }, service, out }) {
      const path = `/organizations/${await service.organization(organization)}/templates`;
      const { body } = await service.asOperator("GET", path, { query: { page, limit } });
      out.list(body, "templates", [
        ["ID", "id"],
        ["NAME", "name"],
        ["LANGUAGE", "language"],
        ["VARIABLES", "variables"],
        ["CHANGED", "updatedAt", "time"],
      ]);
    },
  }),
  command({
    name: "templates create",
    about: "A new template",
    options: {
      name: { ...FIELDS.name, required: true },
      language: { ...FIELDS.language, required: true },
      body: { ...FIELDS.body, required: true },
      ...ORGANIZATION_OPTION,
    },
    async run({ options: { name, language, body, organization }, service, out }) {
      const path = `/organizations/${await service.organization(organization)}/templates`;
      const fields = { name, language, body: await textOf(body) };
      const { body: answer } = await service.asOperator("POST", path, { body: fields });
      out.record(answer, answer.template);
    },
  }),
  command({
    name: "templates show",
    about: "One template",
    operands: ["template"],
    async run({ operands, service, out }) {
      const { body } = await service.asOperator("GET", `/templates/${operands.template}`);
      out.record(body, body.template);
    },
  }),
  command({
    name: "templates change",
    about: "Changes a template; what was sent with it stays as it was",
    operands: ["template"],
    options: FIELDS,
    async run({ operands, options: { name, language, body }, service, out }) {
      const patch = { name, language, body: body && (await textOf(body)) };
      const { body: answer } = await service.asOperator("PATCH", `/templates/${operands.template}`, { body: patch });
      out.record(answer, answer.template);
    },
  }),
  command({
    name: "templates delete",
    about: "Deletes a template; messages that wait with it are delivered",
    operands: ["template"],
    async run({ operands, service, out }) {
      const { body } = await service.asOperator("DELETE", `/templates/${operands.template}`);
      out.record(body, body.template);
    },
  }),
];

async function textOf(given: string): Promise<string> {
  return given === "-" ? (await text(process.stdin)).replace(/\r?\n$/, "") : given;
}
