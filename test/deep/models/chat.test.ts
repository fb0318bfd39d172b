import { env } from "cloudflare:workers";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { ReportAnswer } from "../../../src/organizations/rpc.ts";
import { chatOf, conversation, stopTheClock } from "../../service/chats/object/delivery/conversation.ts";
import { replaceMethod } from "../../support/faults.ts";
import { client, newKey } from "../../support/harness.ts";
import { acceptAs, fakeNetworks, lost, refuse, type Script } from "../../support/networks.ts";
import { watchBackground } from "./background.ts";
import { COMMANDS, page, type RealChat, ring } from "./chat-commands.ts";
import { ChatModel, networkId, type Weather } from "./chat-model.ts";
import { hold, TIMEOUT_MS } from "./hold.ts";
import { realChat } from "./real-chat.ts";

stopTheClock();

const SCRIPTS: Record<Weather, Script> = {
  takes: (call, number) => acceptAs(networkId(number))(call, number),
  refuses: refuse(131026, "No"),
  "is busy": refuse(131016, "Busy"),
  "is not heard": lost,
};

test(
  "whatever happens to a chat, it answers as a list of messages would, its sequence has no gap, and its line moves on",
  async () => {
    // Both by half: back-off then is as long as it is plain.
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const organization = await conversation("whatsapp");
    const rateLimit = { limit: 1_000_000, windowSeconds: 3_600 };
    const { secret } = await newKey(organization.organizationId, { rateLimit });
    const place = { ...organization, api: client(secret) };
    let weather: Weather = "takes";
    const calls = fakeNetworks((call, number) => SCRIPTS[weather](call, number));
    // The channel's part is its own: here every chat may go at once.
    const go = { outcome: "granted", probe: false, trial: null, epoch: 0, brokenSince: null, credentials: CREDENTIALS };
    vi.spyOn(env.CHANNELS, "getByName").mockReturnValue({
      permit: async () => go,
    } as unknown as DurableObjectStub<never>);
    // However many chats the runs have, each reports 2 s after a change.
    replaceMethod("ORGANIZATIONS", "report", (original) => async (...given) => {
      return { ...((await original(...given)) as ReportAnswer), nextAfterMs: 0, restMs: 0 };
    });
    const settled = await watchBackground(place.object());
    const start = Date.now();

    await hold("chat", { few: 25, many: 5_000 }, (replayPath) =>
      fc.asyncProperty(
        fc.commands(COMMANDS, { maxCommands: 40, size: "max", ...(replayPath !== undefined && { replayPath }) }),
        async (commands) => {
          vi.setSystemTime(start);
          weather = "takes";
          const chat = await chatOf(place, place.channelId);
          calls.length = 0;
          const turn = (next: Weather) => {
            weather = next;
          };
          const real = realChat({ ...place, ...chat }, secret, calls, turn, settled);
          const model = new ChatModel(start);
          await fc.asyncModelRun(() => ({ model, real }), commands);
          await drain(model, real);
        },
      ),
    );
  },
  TIMEOUT_MS,
);

const CREDENTIALS = { phoneNumberId: "1", accessToken: "whatsapp-access-token" };

/** Once the network takes what comes, the line is worked off by its alarm alone, and the alarm rings no more. */
async function drain(model: ChatModel, real: RealChat): Promise<void> {
  model.weather = "takes";
  real.setWeather("takes");
  for (let rings = 0; rings < 3; rings++) {
    model.now = Math.max(model.now, model.dueAt() ?? 0);
    real.setClock(model.now);
    await ring().run(model, real);
  }
  expect(model.rows.filter(({ status }) => status === "QUEUED")).toEqual([]);
  expect(await real.alarm()).toBeNull();
  await page(0, 1, 100).run(model, real);
}
