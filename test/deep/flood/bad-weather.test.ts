import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import {
  alarmOf,
  type Conversation,
  chatOf,
  conversation,
  pass,
  stopTheClock,
} from "../../service/chats/object/delivery/conversation.ts";
import { asOwner } from "../../support/as-owner.ts";
import { draft } from "../../support/drafts.ts";
import { send } from "../../support/harness.ts";
import { accept, fakeNetworks, lost, type NetworkCall, refuse, type Script, status } from "../../support/networks.ts";
import { Random } from "../storm/random.ts";

stopTheClock();

const CHATS = 50;
const MESSAGES = 40;
/**
 * A new seed for each run. Repeat a failed one with `SEED=… npx vitest run --config test/vitest.config.ts bad-weather`.
 */
const SEEDS = [Number(env.TEST_SEED || Math.trunc(Math.random() * 2 ** 31))];

const PERMANENT = { telegram: 400, whatsapp: 131026 } as const;
const BUSY = { telegram: 429, whatsapp: 131056 } as const;

type Weather = "taken" | "busy" | "down" | "dropped" | "refused";

/** 30 % are told to wait, 10 % get a 5xx, 5 % are accepted without a response, 5 % are refused permanently. */
function weather(random: Random, met: Map<string, Weather[]>): Script {
  return (call, number) => {
    // A call takes time.
    pass(1);
    const r = random.next();
    const kindOf: Weather = r < 0.3 ? "busy" : r < 0.4 ? "down" : r < 0.45 ? "dropped" : r < 0.5 ? "refused" : "taken";
    const key = `${call.to} ${call.text}`;
    met.set(key, [...(met.get(key) ?? []), kindOf]);
    const scripts: Record<Weather, Script> = {
      taken: accept,
      busy: refuse(BUSY[call.network], "Slow down", { parameters: { retry_after: 1 + Math.floor(r * 20) } }),
      down: status(502),
      dropped: lost,
      refused: refuse(PERMANENT[call.network], "No"),
    };
    return scripts[kindOf](call, number);
  };
}

test.each(SEEDS)(
  "on a bad network every message is delivered in order, or fails permanently (SEED=%i)",
  async (seed) => {
    vi.spyOn(console, "log").mockImplementation(() => undefined);
    const met = new Map<string, Weather[]>();
    const calls = fakeNetworks(weather(new Random(seed), met));
    const places = [await conversation("telegram"), await conversation("whatsapp")];
    const chats = await Promise.all(
      Array.from({ length: CHATS }, async (_, i) => {
        const place = places[i % places.length] as Conversation;
        return { ...place, ...(await chatOf(place, place.channelId)) };
      }),
    );
    for (let i = 1; i <= MESSAGES; i++) {
      pass(60_000);
      await Promise.all(
        chats.map((chat) => (i === 1 ? send(chat.api, chat.chatId, { content: "No. 1" }) : put(chat, i))),
      );
    }
    let left = chats;
    for (let turns = 0; left.length > 0; turns++) {
      expect(turns, `seed ${seed}`).toBeLessThan(300);
      pass(10 * 60_000);
      await Promise.all(left.map((chat) => chat.run()));
      const alarms = await Promise.all(left.map((chat) => alarmOf(chat.object())));
      left = left.filter((_chat, i) => alarms[i] !== null);
    }
    for (const chat of chats) {
      const wire = calls.filter((call) => call.to === chat.address).map(numberOf);
      expect(wire, `seed ${seed}`).toEqual(wire.toSorted((one, other) => one - other));
      expect(new Set(wire).size, `seed ${seed}`).toBe(MESSAGES);
      for (const message of await chat.messages()) {
        const history = met.get(`${chat.address} ${message.content}`) ?? [];
        const said = `seed ${seed}: ${message.content} met ${history.join()}`;
        // The network's decision is final: only messages that were not accepted, or may not have been, are sent again.
        const last = history.at(-1);
        expect(
          history.findIndex((each) => each === "taken" || each === "refused"),
          said,
        ).toBe(history.length - 1);
        expect(message.status, said).toBe(last === "refused" ? "FAILED" : "SENT");
      }
    }
    const all = [...met.values()].flat();
    for (const kind of ["busy", "down", "dropped", "refused", "taken"] as const) {
      expect(all.filter((each) => each === kind).length / all.length, kind).toBeGreaterThan(0.03);
    }
  },
  240_000,
);

/** Stores a message like the Worker, but without the Worker, which is not tested here. */
async function put({ object, organizationId, ownerId: senderId }: Conversation, number: number): Promise<void> {
  const text = `No. ${number}`;
  const message = draft(text, { prepared: { outcome: "prepared", senderId, text, template: null } });
  expect(await object().send(asOwner(organizationId), [message])).toMatchObject([{ outcome: "stored" }]);
}

function numberOf(call: NetworkCall): number {
  return Number(call.text.slice("No. ".length));
}
