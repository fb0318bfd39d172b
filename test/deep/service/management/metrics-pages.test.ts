import { env } from "cloudflare:workers";
import { beforeEach, expect, test } from "vitest";
import { newId } from "../../../../src/model/id.ts";
import { writeOpaque } from "../../../../src/model/opaque.ts";
import { stopTheClock } from "../../../service/chats/object/delivery/conversation.ts";
import { admin } from "../../../support/harness.ts";
import { samplesOf } from "../../../support/metrics.ts";
import { neverRing } from "../../../support/timers.ts";

// A thousand objects may take longer than a page waits for them.
stopTheClock();
beforeEach(() => neverRing(3_000));

// More objects than this at once are too many for the local runtime.
test("1,200 organizations are on two pages, each once, and a page's metric says whether one follows", async () => {
  const ids = Array.from({ length: 1_200 }, () => newId("org", null));
  const insert = env.DB.prepare("insert into organizations (id, name, created_at) values (?, 'Acme', ?)");
  // Many of one time: then the ids decide.
  for (let at = 0; at < ids.length; at += 100)
    await env.DB.batch(ids.slice(at, at + 100).map((id, n) => insert.bind(id, 1_000 + Math.floor((at + n) / 700))));
  const listed: string[] = [];
  const pages: number[] = [];
  for (let path: string | undefined = "/metrics"; path; ) {
    const answer = await admin("GET", path, undefined, {});
    const samples = samplesOf(answer);
    const up = samples.filter(({ name }) => name === "parley_organization_up");
    expect(up.every(({ value }) => value === 1)).toBe(true);
    listed.push(...up.map(({ labels }) => labels.organization ?? ""));
    pages.push(up.length);
    const [, next] =
      /^<\/admin\/v1(\/metrics\?after=[\w-]+)>; rel="next"$/.exec(answer.headers.get("Link") ?? "") ?? [];
    expect(samples.find(({ name }) => name === "parley_metrics_next_page")?.value).toBe(next ? 1 : 0);
    path = next;
  }
  expect(pages).toEqual([1_000, 200]);
  expect(listed.toSorted()).toEqual(ids.toSorted());
});

test("a page ends with the organization that has the 10,000th channel", async () => {
  const ids = Array.from({ length: 3 }, () => newId("org", null)).sort();
  const place = writeOpaque([5_000, newId("org", null)]);
  const organization = env.DB.prepare("insert into organizations (id, name, created_at) values (?, 'Acme', 5001)");
  await env.DB.batch(ids.map((id) => organization.bind(id)));
  const channels = env.DB.prepare(
    `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ?2)
     insert into channels (id, organization_id, kind, name, settings, credential_hints, created_at)
     select ?1 || n, ?1, 'web', 'Site', '{}', '{}', n from numbers`,
  );
  await env.DB.batch([channels.bind(ids[0], 9_999), channels.bind(ids[1], 1), channels.bind(ids[2], 1)]);
  const answer = await admin("GET", `/metrics?after=${place}`, undefined, {});
  const up = samplesOf(answer).filter(({ name }) => name === "parley_organization_up");
  expect(up.map(({ labels }) => labels.organization)).toEqual(ids.slice(0, 2));
  expect(answer.headers.get("Link")).toContain('rel="next"');
});
