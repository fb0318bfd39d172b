import { command, PAGE_OPTIONS, YES_OPTION } from "../command.ts";
import { eraseUntilDone } from "../erase.ts";

/** Organizations, for the operator. */
export const organizationCommands = [
  command({
    name: "organizations list",
    about: "All organizations, oldest first",
    options: PAGE_OPTIONS,
    async run({ options: { page, limit }, service, out }) {
      const { body } = await service.asOperator("GET", "/organizations", { query: { page, limit } });
      out.list(body, "organizations", [
        ["ID", "id"],
        ["NAME", "name"],
        ["JURISDICTION", "jurisdiction"],
        ["REGION", "region"],
        ["CREATED", "createdAt", "time"],
      ]);
    },
  }),
  command({
    name: "organizations create",
    about: "A new organization with its first member",
    options: {
      name: { type: "string", required: true, value: "name", about: "the organization's name" },
      owner: { type: "string", required: true, value: "name", about: "its first member's name" },
      "owner-email": { type: "string", value: "address", about: "and their e-mail address" },
      jurisdiction: { type: "string", value: "eu|us", about: "where its data must live, for good" },
      region: { type: "string", value: "region", about: "where its data should live, as weur" },
    },
    async run({ options, service, out }) {
      const { name, jurisdiction, region } = options;
      const owner = { name: options.owner, email: options["owner-email"] };
      const { body } = await service.asOperator("POST", "/organizations", {
        body: { name, owner, jurisdiction, region },
      });
      out.record(body, body);
    },
  }),
  command({
    name: "organizations show",
    about: "One organization",
    operands: ["organization"],
    async run({ operands, service, out }) {
      const { body } = await service.asOperator("GET", `/organizations/${operands.organization}`);
      out.record(body, body.organization);
    },
  }),
  command({
    name: "organizations delete",
    about: "Erases an organization and all that it holds, messages too",
    details: "Repeated by itself while the service says that more is left.",
    operands: ["organization"],
    options: YES_OPTION,
    async run({ operands, options, service, out }) {
      const body = await eraseUntilDone(service, out, `/organizations/${operands.organization}`, options.yes);
      out.record(body, body.organization);
    },
  }),
];
