import { expect, test } from "vitest";
import { LineOwner, newOwner, SECOND, status } from "./line-owner.ts";

test("a replay sends events again, without the number before them", async () => {
  const chat = newOwner(4);
  await chat.lines.run();
  expect(chat.lines.replay("w", "rpl_1", [[2, 3]])).toBe(2);
  expect(chat.lines.replay("w", "rpl_1", [[2, 3]])).toBe(2);
  await chat.lines.run();
  const again = chat.calls
    .slice(4)
    .map(({ body, headers }) => [body.number, body.previous, headers.get("parley-replay")]);
  expect(again).toEqual([
    [2, null, "rpl_1"],
    [3, null, "rpl_1"],
  ]);
  expect(chat.reports.slice(4)).toMatchObject([{ replayId: "rpl_1" }, { replayId: "rpl_1" }]);
  expect(chat.rows.get("line w")).toMatchObject({ replays: [], cursor: 4, previous: 4 });
});

test("a replay whose events come in several calls sends each of them once", async () => {
  const chat = newOwner(6);
  await chat.lines.run();
  chat.lines.replay("w", "rpl_1", [[1, 2]]);
  chat.lines.replay("w", "rpl_1", [
    [1, 2],
    [4, 5],
  ]);
  await chat.lines.run();
  expect(chat.numbers().slice(6)).toEqual([1, 2, 4, 5]);
});

test("a replay sends only what the filter lets through", async () => {
  const chat = new LineOwner();
  chat.configure({ w: { types: ["message.received"] } });
  chat.append("message.received", "message.status", "message.received");
  await chat.lines.run();
  expect(chat.lines.replay("w", "rpl_1", [[1, 3]])).toBe(2);
  await chat.lines.run();
  expect(chat.numbers()).toEqual([1, 3, 1, 3]);
  expect(chat.lines.replay("w", "rpl_2", [[2, 2]])).toBe(0);
});

test("a replay has tries of its own and never delays new events", async () => {
  const chat = newOwner(1);
  await chat.lines.run();
  chat.answer = ({ headers }) => status(headers.has("parley-replay") ? 500 : 200);
  chat.lines.replay("w", "rpl_1", [[1, 1]]);
  await chat.lines.run();
  chat.append("message.received");
  await chat.lines.run();
  expect(chat.numbers()).toEqual([1, 1, 2]);
  await chat.pass(5 * SECOND);
  expect(chat.calls.at(-1)?.headers.get("parley-attempt")).toBe("2");
});

test("a replay goes on while the first event waits for its next try", async () => {
  const chat = newOwner(2);
  chat.answer = ({ body, headers }) => status(body.number === 2 && !headers.has("parley-replay") ? 500 : 200);
  await chat.lines.run();
  chat.lines.replay("w", "rpl_1", [[1, 1]]);
  await chat.lines.run();
  expect(chat.numbers()).toEqual([1, 2, 1]);
});
