import { wellFormedKey } from "../../../src/keys/well-formed-key.ts";
import { fromText } from "../../../src/platform/answer-text.ts";
import { CALLS } from "../many-calls.ts";

/** Calls one object of the service many times at once for each request. No calls are shared, so the object is the limit. */
export default {
  async fetch(request, env) {
    const [, what = "", id = ""] = new URL(request.url).pathname.split("/");
    const text = request.headers.get("Authorization")?.slice("Bearer ".length) ?? "";
    const call = what === "admit" ? await admission(env, text) : permission(env, id);
    const answers = await Promise.all(Array.from({ length: CALLS }, call));
    const refused = answers.find(({ outcome }) => outcome !== "admitted" && outcome !== "granted");
    return Response.json(refused ?? { ok: true }, { status: refused ? 500 : 200 });
  },
} satisfies ExportedHandler<Env>;

type Call = () => Promise<{ outcome: string }>;

async function admission(env: Env, text: string): Promise<Call> {
  const key = await wellFormedKey(env, text);
  if (!key) throw new Error("this is no key");
  const { id, hash } = key;
  const asked = { hash, address: "203.0.113.7", permission: "chats:read", units: 1 } as const;
  return async () =>
    fromText(await env.KEYS.getByName(id).admit(id, { ...asked, call: crypto.randomUUID(), asText: true }));
}

/** As an attempt to deliver does: one that was a trial or a probe reports that the channel works. */
function permission(env: Env, channelId: string): Call {
  return async () => {
    const channel = env.CHANNELS.getByName(channelId);
    const asked = { channelId, chatId: crypto.randomUUID(), reservedAt: null, brokenEpoch: null };
    const answer = await channel.permit(asked);
    if (answer.outcome === "granted" && (answer.trial !== null || answer.probe !== null)) {
      const { probe, epoch, trial } = answer;
      await channel.reportProbe({ channelId, probe, epoch, trial, works: true });
    }
    return answer;
  };
}
