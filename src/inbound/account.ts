import { type ChannelRecord, findByAccounts } from "../channels/record.ts";
import { ADAPTERS } from "../channels/registry.ts";

/** Finds the channel that the items for an account are for. */
export type FindAccount = (account: string | null) => Promise<ChannelRecord | null>;

/**
 * Finds the channels that a webhook's items are for. A network may call one address for several accounts: items for
 * another account than the called channel's go to the channel of that account, if the same organization has one.
 * @param accounts all that the webhook names, so that one query finds their channels
 * @returns a function that resolves to null if there is no such channel, and rejects if one may be it but can't be read
 */
export function accountFinder(env: Env, called: ChannelRecord, accounts: Iterable<string | null>): FindAccount {
  const isFor = called.kind === "web" ? undefined : ADAPTERS[called.kind].isFor;
  const isOf = (account: string | null, { credentials }: ChannelRecord) =>
    account === null || !isFor || isFor(account, credentials, called.credentials);
  const others = [...new Set(accounts)].filter((account) => account !== null && !isOf(account, called));
  let siblings: ReturnType<typeof findByAccounts> | undefined;
  return async function findAccount(account) {
    if (isOf(account, called)) return called;
    siblings ??= findByAccounts(env, called, others as string[]);
    let unread: unknown = null;
    for (const sibling of await siblings) {
      if (sibling.account !== account) continue;
      try {
        const record = await sibling.open();
        if (isOf(account, record)) return record;
      } catch (error) {
        // It may be the channel, but a later one that opens may be it as well.
        unread = error;
      }
    }
    if (unread) throw unread;
    return null;
  };
}
