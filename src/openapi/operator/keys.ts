import * as z from "zod";
import { keyPatch, MAX_PER_SECOND, newKeyBody } from "../../management/key-settings.ts";
import type { ErrorCode } from "../../model/error.ts";
import { DEFAULT_PERMISSIONS, PERMISSIONS } from "../../model/permission.ts";
import { examples } from "../examples.ts";
import { jsonResponse, type OperationSpec, tagged } from "../operation.ts";
import { keySchema, usageSchema } from "../resources.ts";
import { overlap } from "./channels.ts";
import { listResponse, pages } from "./lists.ts";
import { leftBehindSchema } from "./resources.ts";
import type { Side } from "./side.ts";

const { key, usage, secret, leftBehind } = examples;
const oneKey = z.object({ key: keySchema });
const revoked = z.object({ key: keySchema, leftBehind: leftBehindSchema });
const changed = z.object({ key: keySchema, leftBehind: leftBehindSchema.exactOptional() });
const withSecret = z.object({
  key: keySchema,
  secret: z.string().describe("The API key itself. It is shown only once"),
});

const descriptions = {
  name: "The key's name.",
  permissions: `Any of ${PERMISSIONS.join(", ")}. Default: ${DEFAULT_PERMISSIONS.join(", ")}. \`webhooks:write\` also needs \`events:read\`. Without any, the key can only read itself.`,
  ipAllowlist: "The IPv4 and IPv6 addresses and CIDR blocks that can use the key. Default: every address.",
  rateLimit: "The rate limit. A window starts with its first request. Default: the service's own.",
  "rateLimit.limit": `The maximum number of requests in a window: up to ${MAX_PER_SECOND.toLocaleString("en")} for each second of the window.`,
  "rateLimit.windowSeconds": "The length of a window in seconds.",
  monthlyQuota:
    "The maximum number of requests in a calendar month in UTC. Default: no quota. Required if the organization's `selfService` has a ceiling for the sum of quotas, and a key or member makes the request.",
  draftsOnly:
    "Whether the key only writes drafts, which a person sends. What reaches the contact or changes a message that waits answers 403 `drafts_only`, whatever the permissions. Such a key can create, change and rotate only such keys. Default: false.",
  expiresAt: "When the key expires: RFC 3339, before the year 10000, and in the future for a new key. Default: never.",
};
const REGION =
  "A hint for where its requests are counted: where the software that uses the key runs. It can't be changed. Default: near its first request.";
const { name, monthlyQuota } = key;

const WITHIN =
  "A key can't give more than it has: the permissions, the end and the allowed addresses of the other key must be within its own.";
const CEILINGS =
  "The organization's `selfService` limits the number of keys, their rate limits and the sum of their quotas.";

export function keyOperations({ isOperator, prefix, whose }: Side): readonly OperationSpec[] {
  const byKey = (...codes: ErrorCode[]) => (isOperator ? [] : codes);
  return tagged("Keys", [
    {
      route: `POST ${prefix}/keys`,
      id: "createKey",
      summary: "Create a key",
      description: `Creates an API key. The response is the only one that contains its \`secret\`.${isOperator ? "" : ` ${WITHIN} ${CEILINGS}`}`,
      body: {
        name: "NewKey",
        description: "The key to create.",
        schema: newKeyBody,
        descriptions: { ...descriptions, region: REGION },
        example: { name, permissions: ["messages:read", "messages:send"], monthlyQuota },
      },
      responses: [jsonResponse(201, "The key and its secret.", withSecret, { key, secret })],
      errors: ["missing_field", ...byKey("self_service_off", "key_limit")],
    },
    {
      route: `GET ${prefix}/keys`,
      id: "listKeys",
      summary: "List keys",
      description: `Lists ${whose} keys, oldest first, including revoked ones.`,
      query: pages,
      responses: listResponse("keys", keySchema, key),
    },
    {
      route: "GET /keys/{id}",
      id: "readKey",
      summary: "Read a key",
      description: "Returns one key without its secret.",
      responses: [jsonResponse(200, "The key.", oneKey, { key })],
    },
    {
      route: "PATCH /keys/{id}",
      id: "changeKey",
      summary: "Change a key",
      description: `Changes the fields that the body has. Null restores a default. The change takes effect with the key's next request. The current window keeps its start and its count.${isOperator ? "" : ` ${WITHIN} ${CEILINGS}`}`,
      body: {
        name: "KeyPatch",
        description: "The fields to change.",
        schema: keyPatch,
        descriptions,
        example: { rateLimit: { limit: 600, windowSeconds: 60 } },
      },
      responses: [
        jsonResponse(200, "The changed key. If it can do less than before, also what it leaves behind.", changed, {
          key,
        }),
      ],
      errors: ["missing_field", ...byKey("self_service_off", "key_limit", "last_manager")],
    },
    {
      route: "DELETE /keys/{id}",
      id: "revokeKey",
      summary: "Revoke a key",
      description: `Revokes a key permanently, starting with its next request. Safe to repeat.${isOperator ? "" : " Any key can be revoked, except the last one that can manage keys."}`,
      responses: [
        jsonResponse(
          200,
          "The revoked key, and what it leaves behind. That keeps working until you end it too.",
          revoked,
          {
            key: { ...key, revokedAt: key.createdAt },
            leftBehind,
          },
        ),
      ],
      errors: byKey("last_manager"),
    },
    {
      route: "POST /keys/{id}/rotate",
      id: "rotateKey",
      summary: "Rotate a key's secret",
      description: `Creates a new secret for the same key. Limits and counts stay. The old secret stays valid for the overlap, and at most two secrets are valid at a time. If the response is lost, repeat the rotation: it replaces a new secret that was never used, and the secret before it keeps the overlap of the first rotation.${isOperator ? "" : ` ${WITHIN}`}`,
      body: overlap,
      responses: [jsonResponse(201, "The key and its new secret.", withSecret, { key, secret })],
      errors: ["key_revoked", ...byKey("self_service_off")],
    },
    {
      route: "GET /keys/{id}/usage",
      id: "readUsage",
      summary: "Read a key's usage",
      description: "Returns what a key has used this month and in its current window.",
      responses: [jsonResponse(200, "The key's usage.", z.object({ usage: usageSchema }), { usage })],
    },
  ]);
}
