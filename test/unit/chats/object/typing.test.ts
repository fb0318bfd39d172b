import { expect, test } from "vitest";
import { Typing } from "../../../../src/chats/object/typing.ts";

/** The typing of a chat whose organization answers when a test says whether a stream is open. */
function writing() {
  const answers: ((isHeard: boolean) => void)[] = [];
  const told: Promise<void>[] = [];
  const organization = { typing: () => new Promise<boolean>((resolve) => answers.push(resolve)) };
  const typing = new Typing({
    env: { ORGANIZATIONS: { getByName: () => organization } } as unknown as Env,
    adoption: {
      identity: () =>
        ({ organizationId: "org_g1", chatId: "cht_g1", life: 1, channelId: "chn_g1", channelKind: "web" }) as never,
    },
    contact: { current: () => "visitor" },
    details: { details: () => null },
    ctx: { waitUntil: (work) => void told.push(work as Promise<void>) },
  });
  return { typing, answers, told };
}

test("an answer that comes after the chat was deleted does not quiet its next life", async () => {
  const { typing, answers, told } = writing();
  typing.byContact();
  typing.forget();
  answers[0]?.(false);
  await told[0];
  typing.byContact();
  expect(answers).toHaveLength(2);
});
