import * as z from "zod";
import { keyPatch, MAX_PER_SECOND, newKeyBody } from "../../admin/keys.ts";
import { PERMISSIONS } from "../../db/schema.ts";
import * as schemas from "../answers.ts";
import * as examples from "../examples.ts";
import { answered, type Operation } from "../operation.ts";
import { overlap } from "./channels.ts";
import { listed, pages } from "./lists.ts";

const { key, usage, SECRET: secret } = examples;
const tag = "Keys";
const oneKey = z.object({ key: schemas.key });
const withSecret = z.object({
  key: schemas.key,
  secret: z.string().describe("The key's text, which no other answer holds"),
});

const descriptions = {
  name: "What it is for.",
  permissions: `What it may do: any of ${PERMISSIONS.join(", ")}; all of them unless given. With none it may read itself alone.`,
  ipAllowlist: "The addresses that it may be used from: IPv4, IPv6, or ranges in CIDR notation; any unless given.",
  rateLimit:
    "How many requests it may make in a window that starts with its first one; the service's default unless given.",
  "rateLimit.limit": `How many requests a window admits: at most ${MAX_PER_SECOND.toLocaleString("en")} for each of its seconds.`,
  "rateLimit.windowSeconds": "How long a window is, in seconds.",
  monthlyQuota: "How many requests a UTC calendar month admits; any number unless given.",
  expiresAt: "From when on it is refused: RFC 3339, before the year 10000; never unless given.",
};
const { name, monthlyQuota } = key;

/** API keys. */
export const keyOperations: readonly Operation[] = [
  {
    method: "post",
    path: "/organizations/{id}/keys",
    id: "createKey",
    tag,
    summary: "Make a key",
    description: "A new key of an organization. Its text is in this answer and nowhere else.",
    body: {
      name: "NewKey",
      description: "A key to make.",
      schema: newKeyBody,
      descriptions,
      example: { name, permissions: ["messages:read", "messages:send"], monthlyQuota },
    },
    answers: [answered(201, "The key and its text.", withSecret, { key, secret })],
    errors: ["missing_field", "organization_not_found"],
  },
  {
    method: "get",
    path: "/organizations/{id}/keys",
    id: "listKeys",
    tag,
    summary: "List keys",
    description: "An organization's keys, oldest first, revoked ones too.",
    query: pages,
    answers: listed("keys", schemas.key, key),
    errors: ["organization_not_found"],
  },
  {
    method: "get",
    path: "/keys/{id}",
    id: "readKey",
    tag,
    summary: "Read a key",
    description: "One key, without its secret.",
    answers: [answered(200, "The key.", oneKey, { key })],
    errors: ["key_not_found"],
  },
  {
    method: "patch",
    path: "/keys/{id}",
    id: "changeKey",
    tag,
    summary: "Change a key",
    description:
      "What is left out stays, and null is the default again. It counts with the key's next request; the running window's start and count stay.",
    body: {
      name: "KeyPatch",
      description: "What to change.",
      schema: keyPatch,
      descriptions,
      example: { rateLimit: { limit: 600, windowSeconds: 60 } },
    },
    answers: [answered(200, "The key after the change.", oneKey, { key })],
    errors: ["missing_field", "key_not_found"],
  },
  {
    method: "delete",
    path: "/keys/{id}",
    id: "revokeKey",
    tag,
    summary: "Revoke a key",
    description: "Revokes a key for good, from its very next request on. Repeating it changes nothing.",
    answers: [answered(200, "The key, revoked.", oneKey, { key: { ...key, revokedAt: key.createdAt } })],
    errors: ["key_not_found"],
  },
  {
    method: "post",
    path: "/keys/{id}/rotate",
    id: "rotateKey",
    tag,
    summary: "Rotate a key's secret",
    description:
      "A new secret for the same key, its limits and its counts. The old secret lives through the overlap; at most two secrets live at a time. A rotation whose answer was lost can be repeated: while the newest secret was never admitted, another rotation replaces that secret, and the one before it keeps its overlap.",
    body: overlap,
    answers: [answered(201, "The key and its new text.", withSecret, { key, secret })],
    errors: ["key_not_found", "key_revoked"],
  },
  {
    method: "get",
    path: "/keys/{id}/usage",
    id: "readUsage",
    tag,
    summary: "Read a key's usage",
    description: "What a key has used this month and in its running window.",
    answers: [answered(200, "Its counts.", z.object({ usage: schemas.usage }), { usage })],
    errors: ["key_not_found"],
  },
];
