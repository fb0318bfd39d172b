import * as z from "zod/mini";
import type { Credentials } from "../../model/channel.ts";
import type { TemplatePage } from "../../model/network.ts";
import type { Network } from "../network/adapter.ts";
import { lenient } from "../network/lenient.ts";
import { statusText } from "../network/network-response.ts";
import { errorAnswer, errorText, refusalOf } from "./errors.ts";
import { graphFetch, readJson } from "./graph.ts";
import { listedTemplate } from "./template-list.ts";

const DEADLINE_MS = 20_000;
const PAGE = 100;
/** A template has at most 30 KB, if it is a carousel with examples. */
const MAX_LIST_BYTES = 4 * 1_024 * 1_024;
const FIELDS = "id,name,language,status,category,parameter_format,components,quality_score,rejected_reason";

const list = z.object({
  data: z.array(z.unknown()).check(z.maxLength(PAGE)),
  paging: lenient(z.object({ cursors: lenient(z.object({ after: z.string() })), next: lenient(z.string()) })),
});

/** A page of the templates of a WhatsApp Business account; never throws. */
export async function listWhatsAppTemplates(
  { wabaId, after }: { wabaId: string; after: string | null },
  credentials: Credentials,
  network: Network,
): Promise<TemplatePage> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const query = { fields: FIELDS, limit: String(PAGE), ...(after !== null && { after }) };
  try {
    const response = await graphFetch(network, `${wabaId}/message_templates`, credentials, { query, signal });
    const { status } = response;
    const body = await readJson(response, signal, MAX_LIST_BYTES);
    const error = errorAnswer.safeParse(body).data?.error;
    if (error) {
      const { accessToken } = credentials;
      const { outcome } = refusalOf(error, { status, afterMs: null, accessToken });
      const isRefused = outcome === "channel_broken" || outcome === "failed";
      return { outcome: isRefused ? "refused" : "away", description: errorText(error, accessToken) };
    }
    const page = list.safeParse(body).data;
    if (!response.ok || !page) return { outcome: "away", description: statusText(status, `Meta answered ${status}`) };
    const next = page.paging?.next === undefined ? null : (page.paging.cursors?.after ?? null);
    return { outcome: "page", templates: page.data.map(listedTemplate), next };
  } catch {
    return { outcome: "away", description: "Meta did not answer" };
  }
}
