import { CommandError } from "../../command-error.ts";
import { wholeNumber } from "../arguments.ts";
import { command, ORGANIZATION_OPTION, PAGE_OPTIONS } from "../command.ts";

const FIELDS = {
  permission: { type: "string", multiple: true, value: "name", about: "as messages:send; all four, if none is named" },
  allow: { type: "string", multiple: true, value: "address", about: "an address or range that it may come from" },
  "rate-limit": { type: "string", value: "n/seconds", about: "requests in a window, as 300/60" },
  quota: { type: "string", value: "n", about: "requests in a month" },
  expires: { type: "string", value: "time", about: "when it ends, as 2027-01-31T00:00:00Z" },
} as const;

type Fields = {
  permission: string[] | undefined;
  allow: string[] | undefined;
  "rate-limit": string | undefined;
  quota: string | undefined;
  expires: string | undefined;
};

const ONCE = "The secret is in this answer alone: keep it now.";

/** API keys, for the operator. */
export const keyCommands = [
  command({
    name: "keys list",
    about: "An organization's API keys, oldest first",
    options: { ...ORGANIZATION_OPTION, ...PAGE_OPTIONS },
    async run({ options: { organization, page, limit }, service, out }) {
      const path = `/organizations/${await service.organization(organization)}/keys`;
      const { body } = await service.asOperator("GET", path, { query: { page, limit } });
      out.list(body, "keys", [
        ["ID", "id"],
        ["NAME", "name"],
        ["PERMISSIONS", "permissions"],
        ["QUOTA", "monthlyQuota"],
        ["EXPIRES", "expiresAt", "time"],
        ["REVOKED", "revokedAt", "time"],
      ]);
    },
  }),
  command({
    name: "keys create",
    about: "A new API key; its secret is shown this once",
    options: {
      name: { type: "string", required: true, value: "name", about: "the key's name" },
      ...FIELDS,
      ...ORGANIZATION_OPTION,
    },
    async run({ options: { name, organization, ...fields }, service, out }) {
      const path = `/organizations/${await service.organization(organization)}/keys`;
      const { body } = await service.asOperator("POST", path, { body: { name, ...fieldsOf(fields) } });
      out.record(body, { ...(body.key as object), secret: body.secret });
      out.note(ONCE);
    },
  }),
  command({
    name: "keys show",
    about: "One key",
    operands: ["key"],
    async run({ operands, service, out }) {
      const { body } = await service.asOperator("GET", `/keys/${operands.key}`);
      out.record(body, body.key);
    },
  }),
  command({
    name: "keys change",
    about: "Changes a key, from its very next request on",
    details: "default puts an option back to what it is when nobody chooses: --quota default, --allow default.",
    operands: ["key"],
    options: { name: { type: "string", value: "name", about: "the name" }, ...FIELDS },
    async run({ operands, options: { name, ...fields }, service, out }) {
      const { body } = await service.asOperator("PATCH", `/keys/${operands.key}`, {
        body: { name, ...fieldsOf(fields) },
      });
      out.record(body, body.key);
    },
  }),
  command({
    name: "keys rotate",
    about: "Gives a key a new secret, shown this once; its limits and counts stay",
    operands: ["key"],
    options: { overlap: { type: "string", value: "seconds", about: "how long the old secret still works (0)" } },
    async run({ operands, options: { overlap }, service, out }) {
      const { body } = await service.asOperator("POST", `/keys/${operands.key}/rotate`, {
        body: { overlapSeconds: overlap && wholeNumber("overlap", overlap) },
      });
      out.record(body, { ...(body.key as object), secret: body.secret });
      out.note(ONCE);
    },
  }),
  command({
    name: "keys revoke",
    about: "Revokes a key for good, from its very next request on",
    operands: ["key"],
    async run({ operands, service, out }) {
      const { body } = await service.asOperator("DELETE", `/keys/${operands.key}`);
      out.record(body, body.key);
    },
  }),
  command({
    name: "usage",
    about: "What a key has used this month and in its window; your own key, if none is named",
    operands: ["[key]"],
    async run({ operands, service, out }) {
      const { body } = operands.key
        ? await service.asOperator("GET", `/keys/${operands.key}/usage`)
        : await service.asClient("GET", "/key");
      const { id, name } = (body.key ?? {}) as Record<string, unknown>;
      out.record(body, { ...(id !== undefined && { id, name }), ...(body.usage as object) });
    },
  }),
];

/** What the service is told of a key: what is left out stays, and null is the default again. */
function fieldsOf(fields: Fields): Record<string, unknown> {
  return {
    permissions: listOf(fields.permission),
    ipAllowlist: listOf(fields.allow),
    rateLimit: unlessDefault(fields["rate-limit"], rateLimitOf),
    monthlyQuota: unlessDefault(fields.quota, (text) => wholeNumber("quota", text)),
    expiresAt: unlessDefault(fields.expires, (text) => text),
  };
}

function listOf(texts: string[] | undefined): string[] | null | undefined {
  return texts?.length === 1 && texts[0] === "default" ? null : texts;
}

function unlessDefault<T>(text: string | undefined, read: (text: string) => T): T | null | undefined {
  if (text === undefined) return undefined;
  return text === "default" ? null : read(text);
}

function rateLimitOf(text: string): { limit: number; windowSeconds: number } {
  const [, limit, windowSeconds] = /^(\d{1,9})\/(\d{1,9})$/.exec(text) ?? [];
  if (limit === undefined) throw new CommandError("--rate-limit must be requests/seconds, as 300/60.", 2);
  return { limit: Number(limit), windowSeconds: Number(windowSeconds) };
}
