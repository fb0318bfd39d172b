import parse from "parse-prometheus-text-format";
import { expect } from "vitest";
import type { Answer } from "./harness.ts";

/** A sample of the metrics: `name{label="value"} value`. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export const OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";
export const PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

/**
 * The samples of a response, in either format, by a parser of Prometheus's format. Of OpenMetrics that parser does not know
 * the form of a counter's family, so its samples are compared with their heads here.
 */
export function samplesOf({ status, headers, text }: Pick<Answer, "status" | "headers" | "text">): Sample[] {
  expect(status, text).toBe(200);
  const isOpen = headers.get("Content-Type") === OPEN_METRICS;
  if (!isOpen) expect(headers.get("Content-Type")).toBe(PROMETHEUS_TEXT);
  expect(text.endsWith("\n# EOF\n")).toBe(isOpen);
  const classic = isOpen ? asPrometheusText(text) : text;
  return parse(classic).flatMap(({ name, type, help, metrics }) => {
    expect(help.length, name).toBeGreaterThan(10);
    expect(type === "COUNTER", name).toBe(name.endsWith("_total"));
    return metrics.map(({ labels = {}, value }) => ({ name, labels, value: Number(value) }));
  });
}

/** In OpenMetrics the head of a counter has no `_total`, and its samples have; units and the end are of its own. */
function asPrometheusText(text: string): string {
  const counters = [...text.matchAll(/^# TYPE (\w+) counter$/gm)].map(([, name]) => name);
  for (const name of counters) expect(text).not.toMatch(new RegExp(`^${name}[{ ]`, "m"));
  return text
    .replace(/^# (HELP|TYPE) (\w+)/gm, (head, what, name) =>
      counters.includes(name) ? `# ${what} ${name}_total` : head,
    )
    .replace(/^# UNIT (\w+) (\w+)\n/gm, (_line, name: string, unit: string) => {
      expect(name.endsWith(`_${unit}`)).toBe(true);
      return "";
    })
    .replace("# EOF\n", "");
}
