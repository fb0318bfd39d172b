import { expect, test } from "vitest";
import { Permits } from "../../../../src/channels/object/permits.ts";
import { FakeClock } from "../../platform/fake-clock.ts";

const REPORT = {
  channelId: "chn_g000000000000000",
  chatId: "cht_g000000000000000",
  reason: "The token is wrong",
  probe: null,
  epoch: 0,
};

test.each(["pace", "waiting"])(
  "a broken channel whose %s can't be stored is broken when that is reported again",
  async (what) => {
    const stored = new Map<string, unknown>();
    const waiting: string[] = [];
    const health: boolean[] = [];
    let fails = true;
    const mayFail = (name: string) => {
      if (fails && name === what) throw new Error("The disk is full");
    };
    const permits = new Permits({
      kv: {
        get: <T>(key: string) => stored.get(key) as T | undefined,
        put: (key, value) => {
          mayFail(key);
          stored.set(key, value);
        },
        isErased: false,
      },
      clock: new FakeClock(Date.UTC(2026, 10, 20, 10)),
      sendingConfig: async () => ({ credentials: {}, credentialsVersion: "1", perSecond: 25 }),
      addWaiting: (chatId) => {
        mayFail("waiting");
        waiting.push(chatId);
      },
      healthChanged: async (_channelId, works) => void health.push(works),
    });
    await expect(permits.reportBroken(REPORT)).rejects.toThrow("full");
    expect([permits.pace.breaker, health]).toEqual([null, []]);
    fails = false;
    await permits.reportBroken(REPORT);
    expect(permits.pace.breaker).toMatchObject({ reason: REPORT.reason });
    expect(stored.get("pace")).toEqual(permits.pace);
    expect([waiting.at(-1), health]).toEqual([REPORT.chatId, [false]]);
  },
);
