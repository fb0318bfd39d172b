import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import type { ChannelObject } from "../../../../src/channels/object/channel-object.ts";
import { SHORT_WAIT_MS } from "../../../../src/channels/object/pace.ts";
import type { PermitAnswer } from "../../../../src/channels/object/permits.ts";
import { runOneAlarm } from "../../../support/alarms.ts";
import { countRoundTrips } from "../../../support/faults.ts";
import { admin, newOrganization } from "../../../support/harness.ts";
import { holdWaits } from "../../../support/waits.ts";
import { alarmOf, newNetworkChannel, pass } from "../../chats/object/delivery/conversation.ts";

const MINUTE = 60_000;

type Attempt = Omit<PermitAnswer & { outcome: "granted" }, "credentials" | "permit">;

/** A channel's object as its chats see it; a stub is of no more use after an eviction, so each call has its own. */
export async function channel(perSecond = 1_000) {
  const { organizationId } = await newOrganization();
  const { id: channelId } = await newNetworkChannel(organizationId, "telegram", { settings: { perSecond } });
  const object = () => env.CHANNELS.getByName(channelId);
  const permit = async (chat: number, reservedAt: number | null = null) => {
    const answer = await object().permit({ channelId, chatId: `cht_${chat}`, reservedAt, brokenEpoch: null });
    return answer.outcome === "granted" ? { ...answer, credentials: null } : answer;
  };
  const go = async (chat: number) => {
    const answer = await permit(chat);
    if (answer.outcome !== "granted") throw new Error(`it is ${answer.outcome}`);
    return answer;
  };
  const tell = ({ probe, epoch, trial }: Attempt, works: boolean) =>
    object().reportProbe({ channelId, works, probe, epoch, trial });
  const broke = ({ probe, epoch }: Attempt, chat: number) =>
    object().reportBroken({ channelId, chatId: `cht_${chat}`, reason: "Bad token", probe, epoch });
  const repair = () => admin("PATCH", `/channels/${channelId}`, { credentials: { botToken: "123456:good-token" } });
  /** Lets chats ask, a thousand at the same time, by calls within the object. @returns who may go */
  const crowd = (chats: number) =>
    runInDurableObject(object(), async (channel: ChannelObject) => {
      const mayGo: Attempt[] = [];
      for (let from = 0; from < chats; from += 1_000) {
        const answers = await all(from, from + 1_000, (chat) =>
          channel.permit({ channelId, chatId: `cht_${chat}`, reservedAt: null, brokenEpoch: null }),
        );
        for (const answer of answers) if (answer.outcome === "granted") mayGo.push(answer);
      }
      return mayGo;
    });
  return { object, channelId, permit, go, tell, broke, repair, crowd };
}

/** How many chats wait to be woken. */
function waiting(object: DurableObjectStub): Promise<number> {
  return runInDurableObject(object, (_object, { storage }) => [...storage.kv.list({ prefix: "waiting:" })].length);
}

/** Puts chats in place that only say when they are woken. */
function fakeChats(): string[] {
  const woken: string[] = [];
  vi.spyOn(env.CHATS, "getByName").mockImplementation(
    (name) => ({ wake: async () => void woken.push(name) }) as unknown as ReturnType<typeof env.CHATS.getByName>,
  );
  return woken;
}

export const all = <T>(from: number, to: number, ask: (chat: number) => Promise<T>) =>
  Promise.all(Array.from({ length: to - from }, (_, i) => ask(from + i)));

/**
 * Breaks a channel that thousands of chats use, and repairs it: one probe at a time calls the network, and then the chats
 * are woken in bounded runs. Needs a stopped clock.
 */
export async function breakAndRepair(chats: number): Promise<void> {
  const { object, permit, go, tell, broke, repair, crowd } = await channel();
  await broke(await go(0), 0);
  const trips = countRoundTrips();
  expect(await crowd(chats)).toEqual([]);
  expect(await waiting(object())).toBe(chats);
  pass(5 * MINUTE);
  const probes = await crowd(chats);
  expect(probes).toMatchObject([{ probe: 1 }]);
  for (const probe of probes) await broke(probe, 0);
  pass(10 * MINUTE - 1);
  expect(await crowd(chats)).toEqual([]);
  // The channel itself, each time its record was old.
  expect(trips()).toBeLessThanOrEqual(2);

  await repair();
  const woken = fakeChats();
  await runOneAlarm(object());
  expect([woken.length, await waiting(object())]).toEqual([200, chats - 200]);
  // One goes first; the others begin when it has shown that the channel works, and the rest are woken then.
  holdWaits(SHORT_WAIT_MS);
  const answers = await all(0, 200, (chat) =>
    permit(chat).then(async (answer) => {
      if (answer.outcome === "granted" && answer.trial !== null) await tell(answer, true);
      return answer;
    }),
  );
  expect(answers.filter((answer) => answer.outcome === "granted")).toHaveLength(200);
  const trials = answers.filter((answer) => answer.outcome === "granted" && answer.trial !== null);
  expect(trials).toMatchObject([{ probe: null }]);
  for (let runs = 1; runs < chats / 200; runs++) {
    expect(woken).toHaveLength(200 * runs);
    const alarm = (await alarmOf(object())) ?? 0;
    expect(alarm).toBeLessThanOrEqual(Date.now() + 1_000);
    vi.setSystemTime(Math.max(alarm, Date.now()));
    await runOneAlarm(object());
  }
  await runOneAlarm(object());
  expect(new Set(woken).size).toBe(chats);
  expect(woken).toHaveLength(chats);
  expect(await waiting(object())).toBe(0);
  expect(await alarmOf(object())).toBeNull();
}
