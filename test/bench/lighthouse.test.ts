import { expect, test } from "vitest";
import { isFaultless, lighthouseText, summed } from "./lighthouse.ts";

type Report = Parameters<typeof summed>[1][number];

/** A report with these scores, of 1. */
function report(performance: number, accessibility: number, failing: string[] = []): Report {
  const refs = ["color-contrast", "label"].map((id) => ({ id, weight: 7 }));
  return {
    categories: {
      performance: { score: performance, auditRefs: [] },
      accessibility: { score: accessibility, auditRefs: [...refs, { id: "manual", weight: 0 }] },
      "best-practices": { score: 1, auditRefs: [{ id: "not-applicable", weight: 1 }] },
    },
    audits: {
      ...Object.fromEntries(refs.map(({ id }) => [id, { score: failing.includes(id) ? 0 : 1, title: `The ${id}` }])),
      manual: { score: 0, title: "Weighs nothing" },
      "not-applicable": { score: null, title: "Was not judged" },
      "total-blocking-time": { score: 1, title: "", numericValue: 100 * performance },
    },
  };
}

test("a page has the median of its performance, the lowest of its other scores, and each fault once", () => {
  const page = summed("a page", [report(1, 1), report(0.5, 0.93, ["label"]), report(0.98, 0.95, ["label"])]);
  expect(page).toMatchObject({ performance: 98, accessibility: 93, bestPractices: 100, blocking: 98 });
  expect(page.faults).toEqual(["label: The label"]);
  expect(lighthouseText([page])).toContain("| a page | 98 | 93 | 100 | 98 |");
  expect(lighthouseText([page])).toContain("a page: label: The label");
});

test("a point less of anything is a fault, and so is a slower page with the widget", () => {
  const bare = summed("a company's page", [report(0.99, 1)]);
  const faultless = summed("with the widget", [report(0.99, 1)]);
  expect(isFaultless([bare, faultless])).toBe(true);
  expect(isFaultless([bare, summed("with the widget", [report(0.98, 1)])])).toBe(false);
  expect(isFaultless([bare, faultless, summed("the console", [report(0.5, 1)])])).toBe(true);
  expect(isFaultless([bare, faultless, summed("the console", [report(1, 0.99)])])).toBe(false);
  expect(isFaultless([])).toBe(false);
});
