import * as z from "zod/mini";
import type { AddressChange } from "../../model/network.ts";
import { lenient, textField } from "../network/lenient.ts";
import { receivedAt } from "../network/received.ts";
import { distinct, person } from "./fields.ts";

/** Meta has sent a number id as a number, too. */
const id = z.union([z.pipe(z.int(), z.transform(String)), person]);

const notice = z.object({
  from: person,
  timestamp: z.unknown(),
  system: z.object({
    type: textField,
    wa_id: lenient(id),
    new_wa_id: lenient(id),
    customer: lenient(id),
    user_id: person,
    parent_user_id: person,
    previous_user_id: person,
    previous_parent_user_id: person,
  }),
});

/**
 * The change of a contact's number or user id that a notice of WhatsApp reports; null if it reports none. A notice is
 * nothing that the contact wrote. In one about a user id, `from` is a number that stays, or the old user id.
 */
export function addressChange(message: unknown): AddressChange | null {
  const read = notice.safeParse(message).data;
  if (!read) return null;
  const { from, timestamp, system } = read;
  const { type, wa_id, new_wa_id, customer, user_id, parent_user_id, previous_user_id, previous_parent_user_id } =
    system;
  const stays = type === "user_changed_user_id" && from !== undefined && /^\d+$/.test(from) ? from : undefined;
  const to = distinct([wa_id, new_wa_id, user_id, parent_user_id, stays]);
  const old = distinct([from, customer, previous_user_id, previous_parent_user_id]).filter(
    (each) => !to.includes(each),
  );
  // A notice about a new device has no new address.
  if (to.length === 0 || (old.length === 0 && to.length === 1)) return null;
  return { kind: "address", from: old, to, at: receivedAt(timestamp) };
}
