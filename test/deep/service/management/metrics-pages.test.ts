import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { newId } from "../../../../src/model/id.ts";
import { admin } from "../../../support/harness.ts";
import { samplesOf } from "../../../support/metrics.ts";

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
