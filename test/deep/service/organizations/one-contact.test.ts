import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Chat } from "../../../../src/model/chat.ts";
import { newId } from "../../../../src/model/id.ts";
import type { OrganizationObject } from "../../../../src/organizations/object/organization-object.ts";
import { newOrganization } from "../../../support/harness.ts";
import { Random } from "../../../support/random.ts";

const SEED = 43;
const ORDERS = 10_000;
const NONE_ALIKE = { same: [], possible: [] };

/** What happens to a contact that hides its number, gets other user ids, shares its number and changes it. */
function eventsOf(person: number) {
  const [number, next] = [`4917${person}0`, `4917${person}1`];
  const [first, second, third] = ["a", "b", "c"].map((letter) => `DE.${person}${letter}`) as [string, string, string];
  return {
    addresses: [number, next, first, second, third],
    messages: [[number], [number, first], [first], [second], [second, number], [next, third], [third]],
    notices: [
      { kind: "address" as const, from: [first], to: [second], at: 0 },
      { kind: "address" as const, from: [number, second], to: [next, third], at: 0 },
    ],
  };
}

/** The addresses of which something said that they are one contact's. */
class Links {
  readonly #next = new Map<string, string>();

  rootOf(address: string): string {
    let root = address;
    for (let next = this.#next.get(root); next !== undefined; next = this.#next.get(root)) root = next;
    return root;
  }

  join([first = "", ...others]: string[]): void {
    for (const other of others) {
      const [from, to] = [this.rootOf(other), this.rootOf(first)];
      if (from !== to) this.#next.set(from, to);
    }
  }
}

test("a contact has one chat, or chats that name each other, in 10,000 orders of the same events", async () => {
  const { organizationId, channelId } = await newOrganization();
  const random = new Random(SEED);
  const counts: Record<number, number> = {};
  await runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), async (object: OrganizationObject) => {
    const open = async (addresses: string[]): Promise<Chat> => {
      const [address = "", ...others] = addresses;
      const request = { organizationId, channelId, address, others, name: null, metadata: {}, isLimited: false };
      const answer = await object.open({ ...request, proposedId: newId("cht", null) });
      if (answer.outcome !== "opened") throw new Error(answer.outcome);
      return answer.chat;
    };
    for (let person = 0; person < ORDERS; person++) {
      const { addresses, messages, notices } = eventsOf(person);
      const stranger = await open([`4918${person}`, `DE.${person}s`]);
      const order = random.shuffle([...messages, ...notices]);
      const links = new Links();
      const written: string[] = [];
      /** How many messages came from addresses that nothing had linked to an earlier one's. */
      let strangers = 0;
      for (const [at, event] of order.entries()) {
        if ("kind" in event) {
          // WhatsApp tells of changes of those who have written, or were written to.
          const known = [...event.from, ...event.to];
          const isKnown = order
            .slice(0, at)
            .some((one) => !("kind" in one) && one.some((each) => known.includes(each)));
          if (isKnown) {
            object.moveContact(channelId, event, NONE_ALIKE);
            links.join(known);
          } else order.push(event);
        } else {
          const roots = written.map((each) => links.rootOf(each));
          if (!event.some((each) => roots.includes(links.rootOf(each)))) strangers++;
          written.push(...event);
          links.join(event);
          await open(event);
        }
      }
      const ids = [...new Set(addresses.map((address) => object.findByAddress(channelId, address)))] as string[];
      expect(ids.length, `person ${person}, seed ${SEED}`).toBeLessThanOrEqual(strangers);
      for (const id of ids) {
        const same = object.find(id)?.contact.sameAs ?? [];
        expect([...same, id].sort(), `person ${person}, seed ${SEED}`).toEqual([...ids].sort());
      }
      expect(ids, `person ${person}, seed ${SEED}`).not.toContain(stranger.id);
      expect(object.find(stranger.id)?.contact).toMatchObject({ addresses: [`4918${person}`, `DE.${person}s`] });
      expect(object.find(stranger.id)?.contact.sameAs).toBeUndefined();
      counts[ids.length] = (counts[ids.length] ?? 0) + 1;
    }
  });
  expect(counts[1]).toBeGreaterThan(ORDERS / 10);
  console.log(JSON.stringify({ orders: ORDERS, chats: counts }));
});
