import { parser } from "@prometheus-io/lezer-promql";
import { beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import dashboardText from "../../../src/docs/grafana-dashboard.json?raw";
import guide from "../../../src/docs/monitoring.md?raw";
import rulesText from "../../../src/docs/prometheus-alerts.yml?raw";
import { METRICS } from "../../../src/management/metrics-text.ts";
import { admin, send } from "../../support/harness.ts";
import { type Sample, samplesOf } from "../../support/metrics.ts";
import { fakeNetworks, status } from "../../support/networks.ts";
import { conversation, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";

stopTheClock();

/** What Prometheus, and an exporter of Cloudflare's numbers that the guide names, have: their labels by the metric. */
const OF_OTHERS: Record<string, string[]> = {
  up: ["job", "instance"],
  cloudflare_zone_requests_status: ["zone", "status"],
  cloudflare_zone_requests_total: ["zone"],
};

interface Rule {
  alert: string;
  expr: string;
  annotations: { summary: string; description: string };
}

const { groups } = parse(rulesText) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(dashboardText) as {
  panels: { id: number; title: string; targets: { expr: string; legendFormat: string }[] }[];
  templating: { list: { definition?: string }[] };
};
const queries = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

/** The labels of each metric in the real output. */
const labels = new Map<string, Set<string>>();
let samples: Sample[] = [];

// An organization that has a sample of each metric.
beforeAll(async () => {
  fakeNetworks(status(503));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  pass(5_000);
  await chat.run();
  expect((await admin("PATCH", `/keys/${chat.keyId}`, { monthlyQuota: 100 })).status).toBe(200);
  samples = samplesOf(await admin("GET", "/metrics", undefined, {}));
  for (const { name, labels: own } of samples) {
    labels.set(name, new Set([...(labels.get(name) ?? []), ...Object.keys(own)]));
  }
});

/** The metrics of a query with the labels that it filters them by, and what it groups by. @throws if it is not PromQL */
function readQuery(query: string) {
  const metrics: { name: string; filtered: string[] }[] = [];
  const grouped: string[] = [];
  parser.parse(query).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`not PromQL at ${node.from}: ${query}`);
      const text = query.slice(node.from, node.to);
      if (node.name === "VectorSelector") {
        const [name = ""] = /^\w+/.exec(text) ?? [];
        metrics.push({ name, filtered: [...text.matchAll(/(\w+)(?:=|!=|=~|!~)"/g)].map(([, label = ""]) => label) });
      }
      if (node.name === "GroupingLabels") grouped.push(...(text.match(/\w+/g) ?? []));
    },
  });
  return { metrics, grouped };
}

const labelsOf = (name: string) => labels.get(name) ?? new Set(OF_OTHERS[name]);

test("each metric is in the output, and the guide lists it with its labels", () => {
  expect([...labels.keys()].sort()).toEqual(Object.keys(METRICS).sort());
  const rows = guide.split("\n").flatMap((line) => {
    const [, name, of] = /^\| `(parley_\w+)` \| (.*?) ?\|/.exec(line) ?? [];
    return name ? [[name, (of?.match(/\w+/g) ?? []).sort()] as const] : [];
  });
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries([...labels].map(([name, own]) => [name, [...own].sort()])),
  );
});

test("each metric that the guide, an alert or the dashboard names is in the output", () => {
  for (const text of [guide, rulesText, dashboardText]) {
    const named = [...text.matchAll(/\bparley_\w+/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !labels.has(name))).toEqual([]);
  }
});

test.each(queries)("the query %s is PromQL of metrics and labels that exist", (query) => {
  const { metrics, grouped } = readQuery(query);
  expect(metrics.length).toBeGreaterThan(0);
  for (const { name, filtered } of metrics) {
    expect(labels.has(name) || name in OF_OTHERS, name).toBe(true);
    expect(filtered.filter((label) => !labelsOf(name).has(label))).toEqual([]);
    expect(grouped.filter((label) => !labelsOf(name).has(label))).toEqual([]);
  }
});

test("a query that is not PromQL, or of a metric that does not exist, is found", () => {
  expect(() => readQuery("sum by (organization (parley_chats)")).toThrow("not PromQL");
  expect(readQuery('rate(parley_nothing{shop="1"}[5m])').metrics).toEqual([
    { name: "parley_nothing", filtered: ["shop"] },
  ]);
});

test("the guide lists each alert, and an alert's texts use labels that its metrics have", () => {
  const listed = [...guide.matchAll(/^\| `(Parley\w+)` \|/gm)].map(([, name]) => name);
  expect(listed).toEqual(rules.map(({ alert }) => alert));
  for (const { expr, annotations } of rules) {
    const known = new Set(readQuery(expr).metrics.flatMap(({ name }) => [...labelsOf(name)]));
    const used = [
      ...Object.values(annotations)
        .join(" ")
        .matchAll(/\$labels\.(\w+)/g),
    ].map(([, label = ""]) => label);
    expect(used.filter((label) => !known.has(label))).toEqual([]);
  }
});

test("the guide links the files of the alerts and the dashboard, and its configuration reads the route", () => {
  for (const file of ["prometheus-alerts.yml", "grafana-dashboard.json"]) expect(guide).toContain(`](${file})`);
  const [, configuration = ""] = /```yaml\n(scrape_configs:[\s\S]*?)```/.exec(guide) ?? [];
  expect(parse(configuration)).toMatchObject({
    scrape_configs: [
      {
        job_name: "parley",
        scheme: "https",
        metrics_path: "/admin/v1/metrics",
        authorization: { type: "Bearer", credentials_file: expect.any(String) },
      },
    ],
    rule_files: ["prometheus-alerts.yml"],
  });
});

test("the panels of the dashboard have ids of their own", () => {
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});
