import { runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { send } from "../../../../support/harness.ts";
import { untilStatus } from "../../../../support/message-status.ts";
import { accept, fakeNetworks, inTurn, refuse } from "../../../../support/networks.ts";
import { conversation, pass, stopTheClock } from "./conversation.ts";

stopTheClock();

test("a fault of the service holds up no message that is sent after it passed", async () => {
  const calls = fakeNetworks(inTurn(refuse(500, "Internal error"), accept));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId, { content: "Waits" });
  await chat.run();
  const sql = (statement: string) =>
    runInDurableObject(chat.object(), (_object, { storage }) => void storage.sql.exec(statement));
  await sql(
    "create trigger broken before update on messages when new.seq = 1 begin select raise(abort, 'broken'); end",
  );
  const logged = vi.spyOn(console, "error").mockReturnValue();
  pass(3_600_000);
  await chat.run();
  expect(logged).toHaveBeenCalledWith(expect.objectContaining({ event: "alarm_part_failed", part: "queue" }));
  await sql("drop trigger broken");
  pass(1_000);
  const { id } = await send(chat.api, chat.chatId, { content: "Goes at once" });
  await untilStatus(chat.chatId, id, "SENT");
  expect(calls.map(({ text }) => text)).toEqual(["Waits", "Waits", "Goes at once"]);
});
