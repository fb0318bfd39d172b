import { forgetChannel, identify, keepToken, keptToken, subprotocols, tokenName, userIn } from "./identity.ts";
import type { ChatSession } from "./session.ts";
import { browserFlag, tabStorage } from "./stored.ts";

const local = () => localStorage;
const tab = () => sessionStorage;

/** Forgets what this browser keeps of the visitors of a channel. */
export function forgetVisitors(channelId: string): void {
  for (const store of [local, tab]) forgetChannel(channelId, store);
}

/**
 * The visitor of this page. Other tabs and the site may change who that is.
 * @param isInWidget whether a site's widget shows the page. Whoever sends a link must not get the chat that its reader
 *   had before
 */
export function pageVisitor(fragment: URLSearchParams, channelId: string, isInWidget: boolean) {
  let identity = identify(fragment, channelId, local);
  const user = identity.kind === "user" ? identity.user : null;
  const owner = user === null ? channelId : `${channelId}.${user}`;
  /** The token of the anonymous visitor that the site's user was in this browser, until the server has it. */
  let former = isInWidget && user !== null ? keptToken(channelId, local) : null;

  /** The visitor's token from now on. Another tab may have kept it first: this one goes on in its chat. */
  function takeToken(token: string, session: ChatSession): void {
    if (identity.kind === "user" || identity.token === token) return;
    identity = { kind: "token", token };
    session.reconnect();
  }

  return {
    /** The site's user; null for an anonymous visitor. */
    user,
    storage: tabStorage(owner, tab),
    asked: browserFlag(`asked.${owner}`, local),
    protocols: () => subprotocols(identity),

    /** Keeps an anonymous visitor's token, with their first message. */
    keep(session: ChatSession): void {
      if (identity.kind === "token") takeToken(keepToken(channelId, identity.token, local), session);
    },

    /** Tells which chat this browser had before its visitor signed in. */
    tellFormer(session: ChatSession): void {
      const anonymousToken = former;
      former = null;
      if (anonymousToken && !session.tellContact({ anonymousToken })) former = anonymousToken;
    },

    /** Follows what other tabs and the site do. */
    follow(session: ChatSession): void {
      addEventListener("storage", ({ key, newValue }) => {
        if (key !== `parley.${tokenName(channelId)}` || user) return;
        const kept = keptToken(channelId, local);
        if (kept) return takeToken(kept, session);
        if (newValue !== null) return;
        // The visitor was logged out in another tab.
        forgetVisitors(channelId);
        location.reload();
      });
      addEventListener("hashchange", () => {
        const next = userIn(new URLSearchParams(location.hash.slice(1)));
        // The same user with a new hash stays connected, unless the one before was refused. Else it is another visitor.
        if (next && next.user === user && typeof session.view.link === "string" && subprotocols(next)) identity = next;
        else location.reload();
      });
    },
  };
}
