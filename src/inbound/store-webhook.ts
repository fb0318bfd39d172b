import type { InboundItem, ParsedWebhook } from "../channels/adapter.ts";
import type { ChannelRecord } from "../channels/record.ts";
import { ApiError, unavailable } from "../http/errors.ts";
import { causeOf } from "../log.ts";
import { forEachSettled } from "../platform/concurrency.ts";
import { accountFinder } from "./account.ts";
import { storeItem } from "./store-item.ts";

/** A webhook's call: the channel that was called, where we are reached, and the request that the log names. */
interface Call {
  channel: ChannelRecord;
  origin: string;
  requestId: string;
}

/**
 * Stores all that came in a call, each item by itself and those of one contact in their order. A call may hold the
 * items of hundreds of contacts: a few contacts' are under way at once.
 * @throws ApiError `unavailable` when one of them could not be stored, once the others are
 */
export async function storeWebhook(env: Env, call: Call, receipt: ParsedWebhook & { genuine: true }): Promise<void> {
  for (const [note, { length }] of Map.groupBy(receipt.notes, (each) => each)) {
    log(call, call.channel, length > 1 ? `${note}, ${length} times` : note);
  }
  const findAccount = accountFinder(
    env,
    call.channel,
    receipt.items.map(({ account }) => account),
  );
  const accounts = new Map<string | null, Promise<ChannelRecord | null>>();
  const lines = Map.groupBy(receipt.items, ({ account, item }) =>
    JSON.stringify([account, item.kind === "address" ? item.from : item.address]),
  );
  await forEachSettled([...lines.values()], async (line) => {
    const [{ account } = { account: null }] = line;
    let found = accounts.get(account);
    if (!found) accounts.set(account, (found = findAccount(account)));
    const channel = await found;
    if (channel) await takeLine(env, call, channel, line);
    else log(call, call.channel, `unknown_account, ${line.length} items`);
  });
}

async function takeLine(env: Env, call: Call, channel: ChannelRecord, line: InboundItem[]): Promise<void> {
  for (const { item } of line) {
    try {
      log(call, channel, `${item.kind} ${await storeItem(env, channel, call.origin, item)}`);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (!isPermanent(error)) throw unavailable(error);
      // The network would repeat the item for days, and hold up the items behind it.
      console.error({ event: "webhook_item_failed", requestId: call.requestId, cause: causeOf(error) });
    }
  }
}

/**
 * Whether storing an item fails in the same way each time. After any other error the item must come again. A table or a
 * method that is missing is no such error: the next deploy brings it.
 */
function isPermanent(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.message.startsWith("The RPC receiver does not implement")) return false;
    if (cause instanceof TypeError || cause instanceof RangeError || cause instanceof SyntaxError) return true;
    if (/SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)/.test(cause.message)) return true;
  }
  return false;
}

function log({ requestId }: Call, channel: ChannelRecord, what: string): void {
  console.log({ event: "webhook", requestId, channelId: channel.id, what });
}
