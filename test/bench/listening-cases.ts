import { setTimeout as delay } from "node:timers/promises";
import { type Case, parley, same, type Traffic } from "./cases.ts";
import { groundOf, openStream, send } from "./event-cases.ts";
import type { Place } from "./fixtures.ts";
import { get } from "./request.ts";
import type { Sizes } from "./sizes.ts";

/** Before the measured time, each chat sends as often: then the chats know whether somebody listens. */
const WARM_UP_SECONDS = 3;

/**
 * Reads the list of chats while a number of chats send a message each second, with and without a stream, such as each
 * console has. How often these chats report to their organization's object is counted.
 */
export function listeningCases({ activeChats, reportSeconds }: Sizes): Case[] {
  const active = `${activeChats} chats are active each second`;
  return [true, false].map((isListened) => ({
    ...parley(`GET /chats, ${isListened ? "a console listens and" : "nobody listens and"} ${active}`, {}, (place) =>
      activeTraffic(place, activeChats, isListened),
    ),
    reportSeconds,
  }));
}

async function activeTraffic(place: Place, chats: number, isListened: boolean): Promise<Traffic> {
  const ground = await groundOf(place, chats, null);
  return {
    ...same(get("/api/v1/chats", ground.secret), 200),
    run: async (url, { drive, begin }) => {
      const stream = isListened ? await openStream(url, ground) : null;
      let isOver = false;
      const everyMs = 1_000 / chats;
      const active = async () => {
        const sends: Promise<unknown>[] = [];
        const start = performance.now();
        for (let n = 0; !isOver; n++) {
          sends.push(send(url, ground.secret, ground.chatIds[n % chats] ?? ""));
          await delay(Math.max(0, start + (n + 1) * everyMs - performance.now()));
        }
        await Promise.all(sends);
      };
      const activity = active();
      await delay(WARM_UP_SECONDS * 1_000);
      await begin?.();
      const measured = await drive();
      isOver = true;
      await activity;
      await stream?.close();
      return measured;
    },
  };
}
