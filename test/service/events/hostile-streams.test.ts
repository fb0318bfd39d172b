import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { MAX_SESSION_STREAMS, MAX_STREAMS } from "../../../src/model/organization.ts";
import { MAX_STREAMS_OF_A_MEMBER, MAX_STREAMS_OF_A_SESSION } from "../../../src/organizations/object/doorbells.ts";
import { newOrganization } from "../../support/harness.ts";
import { Random } from "../../support/random.ts";
import { until } from "../../support/until.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";

stopTheClock();

type Open = { id: string; session?: string; member?: string };

/** The streams that the organization's object has open. */
function openStreams(organizationId: string): Promise<Open[]> {
  return runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, state) =>
    state
      .getWebSockets()
      .filter(({ readyState }) => readyState === WebSocket.OPEN)
      .map((socket) => socket.deserializeAttachment() as Open),
  );
}

function most(streams: Open[], name: "session" | "member" | "id"): number {
  const counts = Map.groupBy(
    streams.filter((each) => each[name]),
    (each) => each[name],
  );
  return Math.max(0, ...[...counts.values()].map((each) => each.length));
}

test.for([1, 2, 3])(
  "streams that are repeated, left and closed never take more places than there are: seed %i",
  async (seed) => {
    const { organizationId } = await newOrganization();
    const random = new Random(seed);
    const object = env.ORGANIZATIONS.getByName(organizationId);
    const sockets: { id: string; socket: WebSocket }[] = [];
    const used = { keys: 0, sessions: 0, session: 0, member: 0 };
    for (let step = 0; step < 220; step++) {
      pass(1);
      if (sockets.length > 0 && random.next() < 0.15) {
        const [left] = sockets.splice(random.between(0, sockets.length - 1), 1);
        left?.socket.close();
        const isOpen = async () => (await openStreams(organizationId)).some(({ id }) => id === left?.id);
        await until("the stream that was left is closed", isOpen, (yes) => !yes);
        continue;
      }
      const member = `mbr_${random.next() < 0.25 ? 1 : random.between(2, 8)}`;
      const isKey = random.next() < 0.25;
      const owner: Record<string, string> = isKey ? {} : { member, session: `${member} ${random.between(1, 3)}` };
      const id = sockets.length > 0 && random.next() < 0.2 ? random.pick(sockets).id : `stream ${step}`;
      const url = `https://organization/doorbell?${new URLSearchParams({ stream: id, ...owner }).toString()}`;
      const { status, webSocket } = await object.fetch(url, { headers: { Upgrade: "websocket" } });
      if (webSocket) {
        webSocket.addEventListener("close", () => webSocket.close());
        webSocket.accept();
        const earlier = sockets.findIndex((each) => each.id === id);
        if (earlier >= 0) sockets.splice(earlier, 1);
        sockets.push({ id, socket: webSocket });
      } else expect(status).toBe(409);
      const open = await openStreams(organizationId);
      const ofKeys = open.filter(({ session }) => !session);
      used.keys = Math.max(used.keys, ofKeys.length);
      used.sessions = Math.max(used.sessions, open.length - ofKeys.length);
      used.session = Math.max(used.session, most(open, "session"));
      used.member = Math.max(used.member, most(open, "member"));
      expect(most(open, "id")).toBe(open.length > 0 ? 1 : 0);
      // The place of a stream that was closed is given back, so none is refused before.
      const refusedAt = isKey ? [ofKeys.length, MAX_STREAMS] : [open.length - ofKeys.length, MAX_SESSION_STREAMS];
      if (status === 409) expect(refusedAt[0]).toBe(refusedAt[1]);
    }
    expect(used).toEqual({
      keys: MAX_STREAMS,
      sessions: MAX_SESSION_STREAMS,
      session: MAX_STREAMS_OF_A_SESSION,
      member: MAX_STREAMS_OF_A_MEMBER,
    });
  },
);
