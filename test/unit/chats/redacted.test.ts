import { expect, test } from "vitest";
import { newsWithoutWords, partsWithoutWords } from "../../../src/chats/delivery/redaction.ts";
import { redacted } from "../../../src/chats/log/redaction.ts";
import type { Message } from "../../../src/chats/message.ts";

const said: Message = {
  id: "msg_gaaaaaaaaaaaaaaa",
  chatId: "cht_gaaaaaaaaaaaaaaa",
  seq: 7,
  direction: "OUTBOUND",
  type: "TEXT",
  content: "The code is 4711",
  mediaUrl: "https://media.test/4711.jpg",
  senderId: "mbr_gaaaaaaaaaaaaaaa",
  templateId: null,
  variables: { code: "4711" },
  text: "The code is 4711",
  status: "READ",
  error: null,
  metadata: { ticket: "4711" },
  createdAt: "2026-11-20T10:00:00.000Z",
  updatedAt: "2026-11-20T10:00:01.000Z",
};

test("a redacted message keeps its id, number, times and status, and nothing that was said", () => {
  const blank = redacted(said);
  expect(JSON.stringify(blank)).not.toContain("4711");
  const { id, seq, status, createdAt } = said;
  expect(blank).toMatchObject({ id, seq, status, createdAt });
});

test("one that had failed keeps the code, without the network's words, which may quote it", () => {
  const error = { code: "network_400", message: "Bad Request: can't parse 'The code is 4711'" };
  const blank = redacted({ ...said, status: "FAILED", error });
  expect(blank).toMatchObject({ status: "FAILED", error: { code: "network_400" } });
  expect(JSON.stringify(blank)).not.toContain("4711");
});

test("one that waited is FAILED", () => {
  expect(redacted({ ...said, status: "QUEUED" })).toMatchObject({ status: "FAILED", error: { code: "redacted" } });
});

const quoting = { code: "network_131042", message: "No: The code is 4711" };

test("of the parts of a redacted message the ids, statuses and codes stay", () => {
  const early = { networkId: "wamid.3", status: "FAILED", error: quoting, isOurs: false } as const;
  const states = [null, { status: "FAILED" as const, error: quoting }, { status: "SENT" as const, error: null }];
  const parts = { of: 3, ids: ["wamid.1", "wamid.2"], states, lost: [0, 0, 1], early: [early] };
  const error = { code: "network_131042", message: "The message was redacted" };
  expect(partsWithoutWords(parts)).toEqual({
    ...parts,
    states: [null, { status: "FAILED", error }, states[2]],
    early: [{ ...early, error }],
  });
  expect(partsWithoutWords({ ids: [] })).toEqual({ ids: [] });
});

test("a status of a redacted message still says that its channel is refused", () => {
  const news = { networkId: "wamid.1", status: "FAILED", error: { ...quoting, broken: "4711" }, isOurs: true } as const;
  const plain = newsWithoutWords(news);
  expect(JSON.stringify(plain)).not.toContain("4711");
  expect(plain.error?.broken).toBe("The network refused the channel with network_131042");
  const sent = { ...news, status: "SENT", error: null } as const;
  expect(newsWithoutWords(sent)).toEqual(sent);
});
