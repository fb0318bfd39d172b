import { retryAfterMs } from "../../http/retry-after.ts";
import type { Credentials } from "../../model/channel.ts";
import type { PartRefusal } from "../../model/network.ts";
import { discard } from "../network/network-response.ts";
import { notAccepted } from "../network/refusals.ts";
import { errorAnswer, refusalByStatus, refusalOf } from "./errors.ts";
import { readJson } from "./graph.ts";

/** Meta accepted the request, and answered `body`. */
export interface Answered {
  outcome: "answered";
  body: unknown;
  status: number;
  afterMs: number | null;
}

/** Reads Meta's answer to a POST; never throws. */
export async function readMetaAnswer(
  response: Response,
  { accessToken }: Credentials,
  signal: AbortSignal,
): Promise<Answered | PartRefusal> {
  const { status, ok, headers } = response;
  if (status >= 300 && status < 400) {
    discard(response);
    return notAccepted("redirected", `The network answered ${status}, a redirect`);
  }
  const answer = await readJson(response, signal);
  const afterMs = retryAfterMs(headers, Date.now());
  const refused = errorAnswer.safeParse(answer);
  if (refused.success) return refusalOf(refused.data.error, { status, afterMs, accessToken });
  if (!ok || answer === undefined) return refusalByStatus(status, afterMs);
  return { outcome: "answered", body: answer, status, afterMs };
}
