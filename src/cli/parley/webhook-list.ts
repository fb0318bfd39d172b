import { type JsonObject, type Service, ServiceFault } from "./service.ts";

/** A webhook in the operator's API. */
export interface ListedWebhook {
  id: string;
  url: string;
  state: "trial" | "ok" | "failing" | "disabled";
  reason: string | null;
  since: string;
  disablesAt: string | null;
  failed: number;
}

/** More than an organization can have. */
const LIMIT = 100;

/** The answer with an organization's webhooks. It has none if the organization was deleted meanwhile. */
export async function webhooksOf(
  service: Service,
  organization: string,
): Promise<JsonObject & { webhooks: ListedWebhook[] }> {
  try {
    const path = `/organizations/${organization}/webhooks`;
    const { body } = await service.asOperator("GET", path, { query: { limit: LIMIT } });
    return { ...body, webhooks: body.webhooks as ListedWebhook[] };
  } catch (error) {
    if (error instanceof ServiceFault && error.status === 404) return { webhooks: [] };
    throw error;
  }
}
