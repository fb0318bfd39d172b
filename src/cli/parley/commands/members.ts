import { command, ORGANIZATION_OPTION, PAGE_OPTIONS } from "../command.ts";

/** Members of organizations, for the operator. */
export const memberCommands = [
  command({
    name: "members list",
    about: "An organization's members, oldest first; the first one sends where a message names no sender",
    options: { ...ORGANIZATION_OPTION, ...PAGE_OPTIONS },
    async run({ options: { organization, page, limit }, service, out }) {
      const path = `/organizations/${await service.organization(organization)}/members`;
      const { body } = await service.asOperator("GET", path, { query: { page, limit } });
      out.list(body, "members", [
        ["ID", "id"],
        ["NAME", "name"],
        ["EMAIL", "email"],
        ["CREATED", "createdAt", "time"],
      ]);
    },
  }),
  command({
    name: "members create",
    about: "A new member",
    options: {
      name: { type: "string", required: true, value: "name", about: "the member's name" },
      email: { type: "string", value: "address", about: "and e-mail address" },
      ...ORGANIZATION_OPTION,
    },
    async run({ options: { name, email, organization }, service, out }) {
      const path = `/organizations/${await service.organization(organization)}/members`;
      const { body } = await service.asOperator("POST", path, { body: { name, email } });
      out.record(body, body.member);
    },
  }),
  command({
    name: "members delete",
    about: "Removes a member, unless it is the last",
    operands: ["member"],
    async run({ operands, service, out }) {
      const { body } = await service.asOperator("DELETE", `/members/${operands.member}`);
      out.record(body, body.member);
    },
  }),
];
