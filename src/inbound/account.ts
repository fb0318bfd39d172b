import { type ChannelRecord, findByAccounts } from "../calls/channel-record.ts";
import { ADAPTERS } from "../channels/registry.ts";

/** Finds the channel of an account. */
export type FindAccount = (account: string | null) => Promise<ChannelRecord | null>;

/**
 * Finds the channels that a webhook's items belong to. A network may send the items of several accounts to one URL. Items
 * for another account than the called channel's go to that account's channel, if the same organization has one.
 * @param accounts all accounts in the webhook, so that one query finds their channels
 * @returns a function that resolves to null if no channel has the account, and rejects if a candidate can't be read
 */
export function accountFinder(env: Env, called: ChannelRecord, accounts: Iterable<string | null>): FindAccount {
  const isFor = called.kind === "web" ? undefined : ADAPTERS[called.kind].isFor;
  const hasAccount = (account: string | null, { credentials }: ChannelRecord) =>
    account === null || !isFor || isFor(account, credentials, called.credentials);
  const others = [...new Set(accounts)].filter((account) => account !== null && !hasAccount(account, called));
  let siblings: ReturnType<typeof findByAccounts> | undefined;
  return async function findAccount(account) {
    if (hasAccount(account, called)) return called;
    siblings ??= findByAccounts(env, called, others as string[]);
    let unread: unknown = null;
    for (const sibling of await siblings) {
      if (sibling.account !== account) continue;
      try {
        const record = await sibling.open();
        if (hasAccount(account, record)) return record;
      } catch (error) {
        // This may be the channel. But another one may be too, so the search goes on.
        unread = error;
      }
    }
    if (unread) throw unread;
    return null;
  };
}
