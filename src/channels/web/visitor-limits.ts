/**
 * How many new chats visitors may start per minute.
 * - `network`: an IPv4 address, or the /64 of one IPv6 subscriber. Enough for a household or a small office.
 * - `block`: an IPv6 /48. One customer can have a whole /48 with its 65,536 networks, but a mobile carrier puts many
 *   phones into one, so ten full networks are allowed.
 * - `channel`: all visitors together. Each new chat permanently adds rows to the organization's object. Ten per second is
 *   more than a busy site needs, and limits how many rows this object stores.
 */
export const MAX_NEW_CHATS = { network: 5, block: 50, channel: 600 } as const;

const MIB = 1_048_576;
/** The largest file of a visitor, in bytes. */
export const MAX_VISITOR_FILE_BYTES = 10 * MIB;
/** How many bytes visitors may upload in an hour: one visitor, and all visitors of one network (`clientNetwork`). */
export const MAX_UPLOADED = { visitor: 25 * MIB, network: 100 * MIB } as const;
