import { expect, test } from "vitest";
import { newsWithoutWords, partsWithoutWords } from "../../../../../src/chats/object/delivery/redaction.ts";

const quoting = { code: "network_131042", message: "No: The code is 4711" };

test("the parts of a redacted message keep their ids, statuses and codes", () => {
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

test("a status of a redacted message still reports a broken channel", () => {
  const news = { networkId: "wamid.1", status: "FAILED", error: { ...quoting, broken: "4711" }, isOurs: true } as const;
  const plain = newsWithoutWords(news);
  expect(JSON.stringify(plain)).not.toContain("4711");
  expect(plain.error?.broken).toBe("The network refused the channel with network_131042");
  const sent = { ...news, status: "SENT", error: null } as const;
  expect(newsWithoutWords(sent)).toEqual(sent);
});
