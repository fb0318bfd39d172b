import { expect, test, vi } from "vitest";
import { connectionLost, fakeNetwork, WHOLE } from "./fake-network.ts";
import * as ofTelegram from "./telegram/network.ts";
import * as ofWhatsapp from "./whatsapp/network.ts";

const NETWORKS = [
  {
    kind: "telegram",
    adapter: ofTelegram.telegram,
    ...ofTelegram,
    partId: (n: number) => `123456:42:${n}`,
    maxBytes: 256 * 1_024,
    redirected: (status: number) => ({ code: `network_${status}`, message: `Telegram answered ${status}` }),
    silent: "Telegram did not answer in time",
    lost: "The connection to Telegram failed",
    refusal: (text: string) => ofTelegram.refused(400, text),
    longest: 300,
  },
  {
    kind: "whatsapp",
    adapter: ofWhatsapp.whatsapp,
    ...ofWhatsapp,
    accepted: (n: number) => ofWhatsapp.accepted(`wamid.${n}`),
    partId: (n: number) => `wamid.${n}`,
    maxBytes: 64 * 1_024,
    redirected: (status: number) => ({ code: "redirected", message: `The network answered ${status}, a redirect` }),
    silent: "The network did not answer in time",
    lost: "The connection was lost before the network answered",
    refusal: (text: string) => ofWhatsapp.refused(131026, { message: text }),
    longest: 500,
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

/** The outcome of a plain message. */
function sendTo(
  { adapter, outbound, credentials, network }: (typeof NETWORKS)[number],
  signal = new AbortController().signal,
) {
  return adapter.send(outbound(), credentials, network, signal);
}

test.each(NETWORKS)("$kind: a redirect is a failed attempt and is not followed", async (each) => {
  for (const status of [301, 302, 303, 307, 308]) {
    const answer = { ok: true, result: { message_id: 7 }, messages: [{ id: "wamid.1" }] };
    const sent = fakeNetwork(() => Response.json(answer, { status, headers: { Location: "https://evil.test/" } }));
    const retry = { outcome: "retry", afterMs: null, wholeChannel: false, parts: [], ...each.redirected(status) };
    expect(await sendTo(each)).toMatchObject(retry);
    expect(sent).toHaveLength(1);
  }
});

test.each(NETWORKS)("$kind: an answer without an end is cut off", async (each) => {
  let read = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      read += 8_192;
      controller.enqueue(new Uint8Array(8_192));
    },
  });
  fakeNetwork(() => new Response(endless));
  expect(await sendTo(each)).toMatchObject({ outcome: "unknown" });
  expect(read).toBeLessThan(each.maxBytes + 4 * 8_192);
});

test.each(NETWORKS)("$kind: the attempt's deadline ends a call that is not answered", async (each) => {
  const deadline = new AbortController();
  fakeNetwork(
    (signal) =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
        deadline.abort();
      }),
  );
  expect(await sendTo(each, deadline.signal)).toEqual({ outcome: "unknown", message: each.silent, parts: [] });
});

test.each(NETWORKS)("$kind: the attempt's deadline ends an answer that does not end", async (each) => {
  const deadline = new AbortController();
  const begun = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
    pull: () => {
      deadline.abort();
      return new Promise(() => {});
    },
  });
  fakeNetwork(() => new Response(begun));
  expect(await sendTo(each, deadline.signal)).toMatchObject({ outcome: "unknown" });
});

test.each(NETWORKS)("$kind: after a lost connection nobody knows what became of the message", async (each) => {
  // The second one never began, for want of an address.
  for (const thrown of [connectionLost(), new Error("internal error; reference = tf3fi0nlb55p497hh30r99tu")]) {
    fakeNetwork(() => Promise.reject(thrown));
    expect(await sendTo(each)).toEqual({ outcome: "unknown", message: each.lost, parts: [] });
  }
});

test.each(NETWORKS)("$kind: a long text is truncated", async (each) => {
  fakeNetwork(each.refusal("x".repeat(9_000)));
  expect(await sendTo(each)).toMatchObject({ outcome: "failed", message: "x".repeat(each.longest) });
});
