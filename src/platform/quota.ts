/**
 * The platform's words for an account that has used its daily allowance, or owes money. D1 and some libraries put
 * words of their own before them.
 * @see https://developers.cloudflare.com/durable-objects/platform/pricing/
 */
const REFUSAL = /\b(Exceeded allowed|Your account (is|has)) /;

/**
 * Whether the platform refused a call because of the account's quota or billing. Nothing is wrong with the call: it
 * works again once the account may. Searches the causes of the error, and works after an RPC call.
 */
export function isQuotaRefusal(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (REFUSAL.test(cause.message)) return true;
  return false;
}
