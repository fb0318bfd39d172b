import { admin } from "../../support/harness.ts";

/** Changes after which a key is refused: the change, the status and the code. */
export const CHANGES: [string, (id: string) => ReturnType<typeof admin>, number, string][] = [
  ["revoked", (id) => admin("DELETE", `/keys/${id}`), 401, "invalid_api_key"],
  ["expired", (id) => admin("PATCH", `/keys/${id}`, { expiresAt: "2020-01-01T00:00:00Z" }), 401, "invalid_api_key"],
  ["narrowed", (id) => admin("PATCH", `/keys/${id}`, { permissions: ["messages:send"] }), 403, "permission_denied"],
  [
    "restricted to addresses",
    (id) => admin("PATCH", `/keys/${id}`, { ipAllowlist: ["192.0.2.0/24"] }),
    403,
    "ip_not_allowed",
  ],
  ["given a used-up quota", (id) => admin("PATCH", `/keys/${id}`, { monthlyQuota: 1 }), 403, "quota_exceeded"],
  [
    "given a used-up rate limit",
    (id) => admin("PATCH", `/keys/${id}`, { rateLimit: { limit: 1, windowSeconds: 3_600 } }),
    429,
    "rate_limited",
  ],
  ["rotated", (id) => admin("POST", `/keys/${id}/rotate`), 401, "invalid_api_key"],
];
