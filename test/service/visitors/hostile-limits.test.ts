import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { clientBlock } from "../../../src/http/client-network.ts";
import { MAX_NEW_CHATS, MAX_UPLOADED } from "../../../src/model/visitor.ts";
import { Random } from "../../support/random.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { HOUR, MIB, newPlace } from "./uploading.ts";

stopTheClock();

/** An upload must have ended by then, or it is cut off. */
const LONGEST_UPLOAD_MS = 300_000;
const MINUTE = 60_000;

/** Two IPv4 addresses, and the /64s of two IPv6 /48s: one with many, one with few. */
const NETWORKS = [
  ...["192.0.2.1", "192.0.2.2"],
  ...[1, 2, 3, 4, 5, 6].map((n) => `20010db80001000${n}::/64`),
  ...[1, 2].map((n) => `20010db80002000${n}::/64`),
];

/** Something that was admitted: who sent it, from where, when, and how much. */
interface Admitted {
  chatId: string;
  network: string;
  at: number;
  amount: number;
}

/** The limits that a share of what was admitted lately is held to, by what shares them. */
type Limits = Partial<Record<"visitor" | "network" | "block" | "channel", number>>;

/** The largest part of each limit that was used within the time, as a number from 0: more than 1 is too much. */
class Usage {
  readonly #limits: Limits;
  readonly #windowMs: number;
  #recent: Admitted[] = [];
  readonly most: Limits = {};

  constructor(limits: Limits, windowMs: number) {
    this.#limits = limits;
    this.#windowMs = windowMs;
  }

  add(admitted: Admitted): void {
    this.#recent.push(admitted);
    this.#recent = this.#recent.filter(({ at }) => at > Date.now() - this.#windowMs);
    const { chatId, network } = admitted;
    const block = clientBlock(network);
    const shares = {
      visitor: this.#sum((one) => one.chatId === chatId),
      network: this.#sum((one) => one.network === network),
      block: block === null ? 0 : this.#sum((one) => clientBlock(one.network) === block),
      channel: this.#sum(() => true),
    };
    for (const [name, limit] of Object.entries(this.#limits) as [keyof Limits, number][]) {
      this.most[name] = Math.max(this.most[name] ?? 0, shares[name] / limit);
    }
  }

  #sum(isMeant: (one: Admitted) => boolean): number {
    return this.#recent.filter(isMeant).reduce((total, { amount }) => total + amount, 0);
  }
}

test.for([1, 2, 3])(
  "uploads that are repeated, cut off and moved never store more than the limits: seed %i",
  async (seed) => {
    const { channelId } = await newPlace();
    const random = new Random(seed);
    const { visitor, network, block } = MAX_UPLOADED;
    const usage = new Usage({ visitor, network, block }, HOUR);
    await runInDurableObject(env.CHANNELS.getByName(channelId), async (channel) => {
      const open: (Admitted & { id: string })[] = [];
      const stored = new Map<string, number>();
      for (let step = 0; step < 2_000; step++) {
        pass(random.pick([0, 0, 1_000, 5_000]));
        if (open.length === 0 || random.next() < 0.55) {
          const upload = {
            id: random.next() < 0.5 ? `key ${random.between(1, 4)}` : `id ${step}`,
            chatId: `cht_${random.between(1, 60)}`,
            network: random.pick(NETWORKS),
          };
          const amount = random.pick([1, 65_536, 5 * MIB, 10 * MIB]);
          const { ok } = await channel.admitUpload({ ...upload, bytes: amount });
          if (ok) open.push({ ...upload, amount, at: Date.now() });
          continue;
        }
        const [ended] = open.splice(random.between(0, open.length - 1), 1);
        // The client is gone, and so is the Worker.
        if (!ended || random.next() < 0.1) continue;
        const { id, chatId, network: from, amount, at } = ended;
        const isStored = Date.now() - at < LONGEST_UPLOAD_MS && random.next() < 0.7;
        channel.endUpload({ id, chatId, network: from, bytes: amount }, isStored);
        if (!isStored) continue;
        // Tries of one upload store one file.
        const before = stored.get(`${chatId} ${id}`) ?? 0;
        stored.set(`${chatId} ${id}`, Math.max(before, amount));
        usage.add({ chatId, network: from, at, amount: Math.max(0, amount - before) });
      }
    });
    for (const [name, share] of Object.entries(usage.most)) expect(share, name).toBeLessThanOrEqual(1);
    // Else the attack shows nothing.
    expect(usage.most.visitor).toBeGreaterThan(0.9);
    expect(usage.most.network).toBeGreaterThan(0.8);
  },
);

test("what one address has uploaded still counts there when another one repeats it", async () => {
  const { channelId } = await newPlace();
  await runInDurableObject(env.CHANNELS.getByName(channelId), async (channel) => {
    const upload = (n: number, network: string) => ({ id: "key", chatId: `cht_${n}`, network, bytes: 10 * MIB });
    for (const network of ["192.0.2.1", "192.0.2.2"]) {
      for (let n = 0; n < 10; n++) {
        expect(await channel.admitUpload(upload(n, network))).toEqual({ ok: true });
        channel.endUpload(upload(n, network), true);
      }
    }
    expect(await channel.admitUpload(upload(10, "192.0.2.1"))).toMatchObject({ ok: false, limit: 100 * MIB });
  });
});

test.for([1, 2, 3])(
  "new chats that are repeated, from many addresses of one /48, stay within the limits: seed %i",
  async (seed) => {
    const { channelId } = await newPlace();
    const random = new Random(seed);
    const usage = new Usage(MAX_NEW_CHATS, MINUTE);
    await runInDurableObject(env.CHANNELS.getByName(channelId), async (channel) => {
      const admitted = new Map<string, number>();
      for (let step = 0; step < 2_000; step++) {
        pass(random.pick([0, 0, 10, 100]));
        const at = Date.now();
        const isNew = random.next() < 0.8;
        const chatId = isNew ? `cht_new${step}` : `cht_${random.between(1, 50)}`;
        const host = random.between(0, 30).toString(16).padStart(4, "0");
        const network = random.next() < 0.7 ? `20010db80001${host}::/64` : `192.0.2.${random.between(1, 254)}`;
        const { ok } = await channel.admitNewChat(network, chatId);
        const isCounted = at - (admitted.get(chatId) ?? Number.NEGATIVE_INFINITY) < MINUTE;
        if (!ok || isCounted) continue;
        admitted.set(chatId, at);
        usage.add({ chatId, network, at, amount: 1 });
      }
    });
    for (const [name, share] of Object.entries(usage.most)) expect(share, name).toBeLessThanOrEqual(1);
    expect([usage.most.network, usage.most.block]).toEqual([1, 1]);
  },
);
