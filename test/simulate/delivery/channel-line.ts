import type { PermitAnswer, PermitRequest } from "../../../src/channels/object/permits.ts";
import { platformError } from "../objects/object.ts";
import type { Grant } from "./channel-judge.ts";
import type { DeliveryWorld } from "./rules.ts";
import type { Chat } from "./simulate.ts";

type Report = "reportBroken" | "reportProbe" | "slowDown";

/** A chat's channel, as the chat calls it. @param cancelHead a client cancels the message that is about to be sent */
export function channelOf(world: DeliveryWorld, chat: Chat, cancelHead: () => void): object {
  const report = (method: Report) => (given: unknown) => tell(world, chat, method, given);
  return {
    permit: (request: PermitRequest) => permit(world, chat, request, cancelHead),
    reportBroken: report("reportBroken"),
    reportProbe: report("reportProbe"),
    slowDown: report("slowDown"),
  };
}

async function permit(
  world: DeliveryWorld,
  chat: Chat,
  request: PermitRequest,
  cancelHead: () => void,
): Promise<PermitAnswer> {
  const { judge, object, channel } = chat;
  judge.owesNothing();
  judge.worked();
  const answered = await object.request((reply) => {
    const soon = (run: () => void) => world.after(world.between(1, 50), run);
    if (world.fault("channel does not answer", 0.1)) {
      return world.after(world.between(5, 5_000), () => reply({ error: platformError(false) }));
    }
    soon(() => {
      const judged = channel.judge.asked(object.name);
      channel.object.receive("permit", [request], (result) => {
        if ("error" in result) return soon(() => reply(result));
        const answer = result.value as PermitAnswer;
        const grant = judged(answer);
        if (grant && isMarked(grant) && world.isFaulty && world.random() < 0.1) cancelHead();
        soon(() => reply({ value: { answer, grant } }));
      });
    });
    chat.mayCrash();
  });
  const { answer, grant } = answered as { answer: PermitAnswer; grant: Grant | null };
  world.note(() => `${object.name} gets ${JSON.stringify(answer)}`);
  if (grant && isMarked(grant)) judge.owes("reportProbe");
  judge.grant = grant;
  return answer;
}

async function tell(world: DeliveryWorld, chat: Chat, method: Report, report: unknown): Promise<void> {
  const { judge, object, channel } = chat;
  if ((report as { isUnused?: boolean }).isUnused) world.count("a permit was returned");
  const arrive = (answer: () => void) => {
    const check = channel.judge.told(method, report);
    if (method === "reportBroken") channel.wasBroken = true;
    channel.object.receive(method, [report], answer);
    channel.object.output(check);
  };
  try {
    await object.request((reply) => {
      world.after(world.between(1, world.pick([50, 50, 2_000])), () => {
        if (world.fault("report lost", 0.1)) return reply({ error: platformError(false) });
        arrive(() => world.after(world.between(1, 50), () => reply({ value: undefined })));
        const isTwice = method !== "slowDown" && world.fault("report twice", 0.1);
        if (isTwice) world.after(world.between(1, 2_000), () => arrive(() => {}));
      });
      chat.mayCrash();
    });
    judge.reported(method);
  } catch (error) {
    judge.reportsLost();
    throw error;
  }
}

/** Whether the channel waits for the result of an attempt. */
function isMarked({ probe, trial }: Grant): boolean {
  return probe !== null || Boolean(trial);
}
