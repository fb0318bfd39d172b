import { setTimeout as delay } from "node:timers/promises";
import { createChannel, createKey, createOrganization } from "../support/world/factories.ts";
import { type RunSettings, withSetup } from "./bench.ts";
import { Place } from "./fixtures.ts";
import { authorized } from "./request.ts";
import { withServer } from "./server.ts";
import { shown } from "./sizes.ts";
import { quantile } from "./statistics.ts";

/** What sends took, in ms. */
interface SendTimes {
  sends: number;
  p50: number;
  p99: number;
  longest: number;
}

export interface RetentionMeasurement {
  messages: number;
  deleted: number;
  /** From the request that sets the retention until all old messages were deleted, or until the measurement stopped. */
  seconds: number;
  before: SendTimes;
  meanwhile: SendTimes;
  faults: string[];
}

const DAYS = 30;
const DAY_MS = 86_400_000;
const SENDS = 300;
/** Between two sends, so that they do not slow down the deletion. */
const PAUSE_MS = 5;
const LOG_EVERY_MS = 5_000;

/**
 * Sets the retention of a channel whose one chat has many old messages, and sends messages in this chat meanwhile.
 * @param seconds after which the measurement stops, even if old messages are left
 */
export function measureRetention(
  { messages, seconds }: { messages: number; seconds: number },
  settings: RunSettings,
): Promise<RetentionMeasurement> {
  const { log } = settings;
  return withSetup(settings, { minify: true }, async (setup) => {
    log(`Making ${shown(messages)} old messages`);
    const { channel, path, secret } = await withServer(setup, { counted: true, showErrors: true }, (server) =>
      oldMessages(new Place(server, setup.secrets.ADMIN_TOKEN), messages),
    );
    // The service as it is deployed: counters fill the heap, and then a collection of garbage holds up a send.
    return withServer(setup, { counted: false, showErrors: false }, async (server) => {
      const place = new Place(server, setup.secrets.ADMIN_TOKEN);
      let sent = 0;
      const send = async () => {
        const begun = performance.now();
        const body = JSON.stringify({ content: "meanwhile" });
        const response = await place.ask(path, { method: "POST", headers: authorized(secret), body });
        await response.arrayBuffer();
        if (response.status !== 201) throw new Error(`a send was answered ${response.status}`);
        sent++;
        return performance.now() - begun;
      };
      const total = async (): Promise<number> => {
        const response = await place.ask(`${path}?limit=1`, { headers: authorized(secret) });
        const { pagination } = (await response.json()) as { pagination: { total: number } };
        return pagination.total;
      };
      const sendWhile = async (goesOn: (sends: number) => boolean | Promise<boolean>): Promise<SendTimes> => {
        const times: number[] = [];
        while (await goesOn(times.length)) {
          times.push(await send());
          await delay(PAUSE_MS);
        }
        const longest = Math.max(...times);
        return { sends: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99), longest };
      };
      const fixed = (sends: number) => sends < SENDS;
      await sendWhile(fixed);
      const before = await sendWhile(fixed);
      const begun = performance.now();
      const took = () => (performance.now() - begun) / 1_000;
      const patched = place.call(place.adminToken, "PATCH", `/admin/v1/channels/${channel}`, {
        retentionDays: DAYS,
      });
      let left = messages;
      let loggedAt = 0;
      const meanwhile = await sendWhile(async (sends) => {
        if (sends % 10 === 0) left = (await total()) - sent;
        if (took() * 1_000 - loggedAt > LOG_EVERY_MS) {
          loggedAt = took() * 1_000;
          log(`${shown(left)} messages are left`);
        }
        return left > 0 && took() < seconds;
      });
      const ended = took();
      const faults: string[] = [];
      if ((await patched).status !== 200) faults.push(`the retention was answered ${(await patched).status}`);
      if (left < 0) faults.push(`${-left} young messages were deleted`);
      return { messages, deleted: messages - left, seconds: ended, before, meanwhile, faults };
    });
  });
}

/** Makes a chat with this many old messages. Returns its channel, its path, and the secret of a key that can send. */
async function oldMessages(place: Place, messages: number) {
  await place.migrate();
  const organization = await createOrganization(place);
  const channel = await createChannel(organization);
  const chatId = await place.chat(channel, messages, Date.now() - 10 * DAYS * DAY_MS);
  const { secret } = await createKey(organization, { permissions: ["messages:send", "messages:read"] });
  return { channel: channel.id, path: `/api/v1/chats/${chatId}/messages`, secret };
}

export function retentionText(measured: RetentionMeasurement): string {
  const { messages, deleted, seconds, before, meanwhile, faults } = measured;
  const line = (name: string, { sends, p50, p99, longest }: SendTimes) =>
    `${name}: ${shown(sends)} sends, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, longest ${longest.toFixed(2)} ms\n`;
  const part = deleted < messages ? " The measurement stopped before all were deleted." : "";
  return [
    `Deleted ${shown(deleted)} of ${shown(messages)} messages in ${Math.round(seconds)} s, ${Math.round(deleted / seconds)} a second.${part}\n`,
    line("  before", before),
    line("  meanwhile", meanwhile),
    ...faults.map((fault) => `FAULT: ${fault}\n`),
  ].join("");
}
