import { setTimeout as delay } from "node:timers/promises";
import { createChannel, createKey, createOrganization } from "../support/world/factories.ts";
import { type RunSettings, withSetup } from "./bench.ts";
import { Place } from "./fixtures.ts";
import { authorized } from "./request.ts";
import { withServer } from "./server.ts";
import { shown } from "./sizes.ts";
import { quantile } from "./statistics.ts";

/** What a page of `GET /chats` costs: times in ms, and the largest number of rows that it read. */
interface PageCost {
  pages: number;
  p50: number;
  p99: number;
  read: number;
}

export interface Erasure {
  chats: number;
  erased: number;
  /** From the request to delete the channel until the end of the measurement. */
  seconds: number;
  before: PageCost;
  meanwhile: PageCost;
  after: PageCost;
  /** What is wrong: rows of the channel that are left after everything was deleted. */
  faults: string[];
}

/** Chats of the channel that stays. */
const OTHERS = 1_000;
const PAGES = 300;
/** Between two pages, so that the reader does not slow down the deletion. */
const PAUSE_MS = 50;
const SAMPLE_EVERY_MS = 5_000;

/**
 * Deletes a channel with many chats with one request, as an operator does, and reads pages of the list meanwhile. The
 * organization's object goes on without it after the request.
 * @param seconds after which the measurement stops, even if chats are left
 */
export async function measureErasure(
  { chats, seconds }: { chats: number; seconds: number },
  settings: RunSettings,
): Promise<Erasure> {
  const { log } = settings;
  return withSetup(settings, { minify: true }, ({ scripts, ...shared }) => {
    const setup = { ...shared, scripts: { ...scripts, counted: scripts.erasing } };
    return withServer(setup, { counted: true, showErrors: false }, async (server) => {
      const place = new Place(server, setup.secrets.ADMIN_TOKEN);
      await place.migrate();
      const organization = await createOrganization(place);
      const [small, big] = [await createChannel(organization), await createChannel(organization)];
      log(`Making ${shown(chats)} chats`);
      await place.chats(small, "visitor", OTHERS);
      await place.chats(big, "user", chats);
      const { secret } = await createKey(organization);
      const rows = () => place.channelRows(big);
      const read = async (isOver: (pages: number) => boolean, pauseMs = 0): Promise<PageCost> => {
        const times: number[] = [];
        let most = 0;
        let sampledAt = Number.NEGATIVE_INFINITY;
        while (!isOver(times.length)) {
          const begun = performance.now();
          // Page 1 is in the cache of the isolate.
          const response = await place.ask("/api/v1/chats?page=2", { headers: authorized(secret) });
          await response.arrayBuffer();
          if (response.status !== 200) throw new Error(`a page was answered ${response.status}`);
          times.push(performance.now() - begun);
          if (begun - sampledAt >= SAMPLE_EVERY_MS) {
            sampledAt = begun;
            last = await rows();
            most = Math.max(most, last.read);
            log(`${shown(last.chats)} chats are left`);
          }
          await delay(pauseMs);
        }
        return { pages: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99), read: most };
      };
      let last = await rows();
      const fixed = (pages: number) => pages >= PAGES;
      await read(fixed);
      const before = await read(fixed);
      const path = `/admin/v1/channels/${big.id}`;
      const remove = async () => (await place.call(place.adminToken, "DELETE", path)).status;
      const begun = performance.now();
      const first = remove();
      const took = () => (performance.now() - begun) / 1_000;
      const meanwhile = await read(() => last.chats === 0 || took() > seconds, PAUSE_MS);
      const ended = took();
      const isDone = (await first) === 200;
      const erased = chats - last.chats;
      const after = await read(fixed);
      const faults: string[] = [];
      if (last.chats === 0) {
        const status = isDone ? 200 : await remove();
        if (status !== 200) faults.push(`the repeated request was answered ${status}`);
        const gone = await place.call(place.adminToken, "GET", path);
        if (gone.status !== 404) faults.push(`the channel was answered ${gone.status}`);
        const left = await rows();
        if (left.chats + left.addresses > 0)
          faults.push(`${left.chats} chats and ${left.addresses} addresses are left`);
      }
      return { chats, erased, seconds: ended, before, meanwhile, after, faults };
    });
  });
}

export function erasureText({ chats, erased, seconds, before, meanwhile, after, faults }: Erasure): string {
  const line = (name: string, { pages, p50, p99, read }: PageCost) =>
    `${name}: ${shown(pages)} pages, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, at most ${read} rows read\n`;
  const part = erased < chats ? " The measurement stopped before all were erased." : "";
  const rate = `${Math.round(erased / seconds)} a second`;
  return [
    `Erased ${shown(erased)} of ${shown(chats)} chats in ${Math.round(seconds)} s, ${rate}.${part}\n`,
    "GET /chats, page 2:\n",
    line("  before", before),
    line("  meanwhile", meanwhile),
    line("  after", after),
    erased === chats && faults.length === 0 ? "Nothing of the channel is left.\n" : "",
    ...faults.map((fault) => `FAULT: ${fault}\n`),
  ].join("");
}
