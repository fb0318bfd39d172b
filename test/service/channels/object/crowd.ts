import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { ChannelObject } from "../../../../src/channels/object/channel-object.ts";
import type { PermitAnswer } from "../../../../src/channels/object/permits.ts";
import { admin, newOrganization } from "../../../support/harness.ts";
import { newNetworkChannel } from "../../chats/object/delivery/conversation.ts";

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

export const all = <T>(from: number, to: number, ask: (chat: number) => Promise<T>) =>
  Promise.all(Array.from({ length: to - from }, (_, i) => ask(from + i)));
