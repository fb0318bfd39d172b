import { type JsonObject, type Service, ServiceFault } from "./service.ts";

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

/**
 * The answer with an organization's webhooks. It has none if the organization was deleted meanwhile, or if the API key may
 * not read them.
 * @param organization null: the API key's own
 */
export async function webhooksOf(
  service: Service,
  organization: string | null,
): Promise<JsonObject & { webhooks: ListedWebhook[] }> {
  try {
    const request = { query: { limit: LIMIT } };
    const { body } = await (organization === null
      ? service.asClient("GET", "/webhooks", request)
      : service.asOperator("GET", `/organizations/${organization}/webhooks`, request));
    return { ...body, webhooks: body.webhooks as ListedWebhook[] };
  } catch (error) {
    if (error instanceof ServiceFault && (error.status === 404 || error.status === 403)) return { webhooks: [] };
    throw error;
  }
}
