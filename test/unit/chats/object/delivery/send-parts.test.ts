import { expect, test } from "vitest";
import type { Adapter } from "../../../../../src/channels/network/adapter.ts";
import { countParts, sendParts } from "../../../../../src/chats/object/delivery/send-parts.ts";
import type { Body, Outbound, PartOutcome } from "../../../../../src/model/network.ts";
import { FILE, NO_FILES, outboundTo } from "../../../channels/outbound.ts";

const outbound = outboundTo("49151");

/** A network that sends each message in these parts, and answers with `outcomes` in order. */
function network(parts: string[], ...outcomes: PartOutcome[]) {
  const bodies: Body[] = [];
  const posted: unknown[] = [];
  const adapter: Pick<Adapter, "render" | "takes" | "post"> = {
    render({ body }) {
      bodies.push(body);
      return parts;
    },
    takes: () => null,
    async post(part) {
      posted.push(part);
      return outcomes[posted.length - 1] ?? { outcome: "sent", id: `id-${String(part)}`, addresses: [] };
    },
  };
  const ids: string[] = [];
  const send = (message: Outbound) =>
    sendParts(adapter, message, {}, { base: "" }, new AbortController().signal, NO_FILES, (id) => ids.push(id));
  return { adapter, bodies, posted, ids, send };
}

test("parts are sent in order, and each id is known before the next part is sent", async () => {
  const { send, posted, ids } = network(["one", "two"]);
  expect(await send(outbound())).toEqual({ outcome: "sent", parts: ["id-one", "id-two"], addresses: [] });
  expect([posted, ids]).toEqual([
    ["one", "two"],
    ["id-one", "id-two"],
  ]);
});

test("a part that is refused ends the attempt, with the ids of the parts before it", async () => {
  const refusal = { outcome: "unknown", message: "No answer" } as const;
  const { send, posted, ids } = network(["one", "two", "three"], { outcome: "sent", id: "a", addresses: [] }, refusal);
  expect(await send(outbound())).toEqual({ ...refusal, parts: ["a"] });
  expect([posted, ids]).toEqual([["one", "two"], ["a"]]);
});

test("parts of earlier attempts are not sent again", async () => {
  const { send, posted, ids } = network(["one", "two"]);
  expect(await send(outbound({ partsSent: ["a"] }))).toMatchObject({ parts: ["a", "id-two"] });
  expect([posted, ids]).toEqual([["two"], ["id-two"]]);
});

test("a contact's other addresses are reported once each, without the one that the chat has", async () => {
  const { send } = network(
    ["one", "two"],
    { outcome: "sent", id: "a", addresses: ["49151", "user-1"] },
    { outcome: "sent", id: "b", addresses: ["user-1", "user-2"] },
  );
  expect(await send(outbound())).toMatchObject({ addresses: ["user-1", "user-2"] });
});

test.each([
  ["that says nothing else", FILE.id, null],
  ["with space around its name", ` ${FILE.id}\n`, null],
  ["with a text", `See ${FILE.id}`, `See ${FILE.id}`],
])("a file %s has the caption %j", async (_what, content, caption) => {
  const { send, bodies } = network(["one"]);
  await send(outbound({ type: "DOCUMENT", file: FILE, content }));
  expect(bodies).toEqual([{ kind: "media", type: "DOCUMENT", source: { file: FILE }, caption }]);
});

test("media without a link is refused without a call, and counts as one part", async () => {
  const { adapter, send, posted } = network(["one", "two"]);
  const message = outbound({ type: "VIDEO", content: "no link", partsSent: [] });
  expect(await send(message)).toEqual({
    outcome: "failed",
    code: "media_url_required",
    message: "The video needs a link: set mediaUrl to an https URL",
    parts: [],
  });
  expect([posted, countParts(adapter, message), countParts(adapter, outbound())]).toEqual([[], 1, 2]);
});
