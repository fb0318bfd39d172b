import { expect, test } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { botPlace } from "./handover-fixtures.ts";
import { report, writeAsContact } from "./inbound.ts";
import { labelsOf } from "./label-fixtures.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

/** Filters, each with what half of the chats are. */
const HALVES = ["label", "person", "handler", "optedOut"] as const;
type Half = (typeof HALVES)[number];

/** A chat of each kind that four halves make, the latest one first. */
async function desk() {
  const place = await botPlace();
  const { api, organizationId } = place;
  const label = await labelsOf(organizationId).make("Refund");
  const chats: { id: string; halves: Set<Half> }[] = [];
  for (let n = 0; n < 2 ** HALVES.length; n++) {
    const halves = new Set(HALVES.filter((_, bit) => (n >> bit) % 2 === 1));
    const { id } = await place.newChat();
    pass(1_000);
    await writeAsContact(organizationId, id);
    const change = {
      contact: { personId: halves.has("person") ? "ada" : "bo" },
      ...(halves.has("optedOut") && { marketing: { optedOut: true } }),
    };
    const done = [
      await api("PATCH", `/chats/${id}`, change),
      halves.has("label") && (await api("PUT", `/chats/${id}/labels/${label}`)),
      halves.has("handler") && (await api("POST", `/chats/${id}/handover`, { to: "people" })),
    ];
    for (const answer of done) if (answer) expect(answer.status, answer.text).toBeLessThan(300);
    await report(id);
    chats.unshift({ id, halves });
  }
  const filters = {
    label: `label=${label}`,
    person: "person=ada",
    handler: "handler=people",
    optedOut: "optedOut=true",
  };
  return { ...place, ...labelsOf(organizationId), chats, filters };
}

/** All sets of at least two of the filters. */
const SETS = Array.from({ length: 2 ** HALVES.length }, (_, n) =>
  HALVES.filter((_half, bit) => (n >> bit) % 2 === 1),
).filter(({ length }) => length > 1);

test.each([
  ["few", "select 1"],
  ["many", "update labels set chats = 5000"],
])("filters select the chats of which all of them hold, where %s chats have the label", async (_name, change) => {
  const { api, rows, chats, filters } = await desk();
  await rows(change);
  for (const names of SETS) {
    const query = names.map((name) => filters[name]).join("&");
    const its = chats.filter(({ halves }) => names.every((name) => halves.has(name))).map(({ id }) => id);
    const list = async (more: string): Promise<string[]> => {
      const answer = await api("GET", `/chats?${query}${more}`);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.chats.map(({ id }: Chat) => id);
    };
    expect(await list(""), query).toEqual(its);
    expect(await list("&unanswered=true"), query).toEqual(its.toReversed());
    expect(await list("&state=closed"), query).toEqual([]);
    expect(await list("&assignee=none&channel=web"), query).toEqual(its);
  }
});
