import { expect, test, vi } from "vitest";
import { fakeNetwork, WHOLE } from "./fake-network.ts";
import * as ofTelegram from "./telegram/network.ts";
import * as ofWhatsapp from "./whatsapp/network.ts";

const NETWORKS = [
  { kind: "telegram", adapter: ofTelegram.telegram, ...ofTelegram, partId: (n: number) => `123456:42:${n}` },
  {
    kind: "whatsapp",
    adapter: ofWhatsapp.whatsapp,
    ...ofWhatsapp,
    accepted: (n: number) => ofWhatsapp.accepted(`wamid.${n}`),
    partId: (n: number) => `wamid.${n}`,
  },
];
const LINK = { type: "IMAGE", mediaUrl: "https://media.test/a.jpg" } as const;
const LONG = { ...LINK, content: "x".repeat(1_025) };

test.each(NETWORKS)(
  "a message to $kind takes two calls if its text is too long for a caption, otherwise one",
  ({ adapter, outbound }) => {
    expect(adapter.countParts(outbound())).toBe(1);
    expect(adapter.countParts(outbound({ ...LINK, content: "x".repeat(1_024) }))).toBe(1);
    expect(adapter.countParts(outbound(LONG))).toBe(2);
    expect(adapter.countParts(outbound({ type: "IMAGE", content: "no link" }))).toBe(1);
  },
);

test.each(NETWORKS)(
  "$kind: each part is reported before the call for the next, and parts of earlier attempts are not",
  async ({ adapter, outbound, accepted, partId, credentials, network }) => {
    const sent = fakeNetwork(accepted(7), accepted(8), accepted(9));
    const reported: [string, number][] = [];
    const onPart = (id: string) => void reported.push([id, sent.length]);
    const { signal } = new AbortController();
    await adapter.send(outbound(LONG), credentials, network, signal, onPart);
    await adapter.send(outbound({ ...LONG, partsSent: [partId(7)] }), credentials, network, signal, onPart);
    expect(reported).toEqual([
      [partId(7), 1],
      [partId(8), 2],
      [partId(9), 3],
    ]);
  },
);

test.each(NETWORKS)(
  "$kind: a message whose parts all went out is sent without a call",
  async ({ adapter, outbound, partId, credentials, network }) => {
    const sent = fakeNetwork();
    const message = outbound({ partsSent: [partId(7)] });
    const outcome = await adapter.send(message, credentials, network, new AbortController().signal);
    expect(outcome).toEqual({ outcome: "sent", parts: [partId(7)], addresses: [] });
    expect(sent).toEqual([]);
  },
);

test.each(NETWORKS)(
  "$kind: media that does not begin within fifteen seconds is unavailable, and its timer is cleared",
  async ({ adapter, credentials, network }) => {
    vi.useFakeTimers();
    try {
      fakeNetwork(
        (signal) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted")))),
      );
      const asked = adapter.media("F1", credentials, network, WHOLE);
      await vi.advanceTimersByTimeAsync(14_999);
      expect(vi.getTimerCount()).toBe(1);
      await vi.advanceTimersByTimeAsync(1);
      expect(await asked).toMatchObject({
        outcome: "unavailable",
        message: expect.stringMatching(/^(Telegram|The network) did not answer/),
      });
      fakeNetwork(() => Promise.reject(new Error("lost")));
      await adapter.media("F1", credentials, network, WHOLE);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  },
);
