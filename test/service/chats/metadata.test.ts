import { expect, test } from "vitest";
import { admin, client, expectFaults, newKey, newOrganization } from "../../support/harness.ts";

/** Pairs whose JSON has exactly so many bytes in UTF-8, made of `letter`, which has `size` bytes there. */
function pairsOf(bytes: number, letter = "x", size = 1): Record<string, string> {
  const pairs: Record<string, string> = {};
  let left = bytes - "{}".length;
  for (let at = 10; left > 0; at++) {
    const frame = `"${at}":""${left > 500 ? "," : ""}`.length;
    const value = left > 500 ? 400 : left - frame;
    pairs[at] = letter.repeat(Math.floor(value / size)).padEnd(Math.floor(value / size) + (value % size), "x");
    left -= frame + value;
  }
  expect(new TextEncoder().encode(JSON.stringify(pairs)).length).toBe(bytes);
  return pairs;
}

async function routes() {
  const { organizationId, channelId } = await newOrganization();
  const api = client((await newKey(organizationId)).secret);
  let contacts = 0;
  const chat = (metadata: object) => ({ channelId, contact: { address: `contact-${++contacts}` }, metadata });
  const { id } = (await api("POST", "/chats", chat({}))).body.chat;
  return [
    (metadata: object) => api("POST", "/chats", chat(metadata)),
    (metadata: object) => admin("POST", `/organizations/${organizationId}/chats`, chat(metadata)),
    (metadata: object) => api("POST", `/chats/${id}/messages`, { content: "Hello", metadata }),
  ];
}

test.each([
  ["x", 1],
  ["ü", 2],
  ["語", 3],
] as const)("metadata of chats and messages may have 4 KiB as JSON, counted in bytes: %s", async (letter, size) => {
  for (const ask of await routes()) {
    const longest = pairsOf(4_096, letter, size);
    const { status, body } = await ask(longest);
    expect(status).toBe(201);
    expect((body.chat ?? body.message).metadata).toEqual(longest);
    expectFaults(await ask(pairsOf(4_097, letter, size)), "metadata");
  }
});

test("metadata that is too long in two ways is one fault", async () => {
  const pairs = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`key${at}`, "x".repeat(500)]));
  for (const ask of await routes()) expectFaults(await ask(pairs), "metadata");
});
