import { expect, test } from "vitest";
import { isUnit, unitsFirst } from "../support/units-first.ts";

test("units come first in their project, and each project's files stay together and in order", () => {
  const file = (name: string, path: string) => ({ project: { name }, moduleId: `/home/test/unit/parley/test/${path}` });
  const [one, other] = [file("service", "unit/one.test.ts"), file("service", "unit/other.test.ts")];
  const [send, list] = [file("service", "service/send.test.ts"), file("service", "service/list.test.ts")];
  const page = file("page", "page/text.test.ts");
  expect(unitsFirst([send, one, page, list, other])).toEqual([one, other, send, list, page]);
});

test("a checkout below a folder of that name makes no unit", () => {
  expect(isUnit("/home/test/unit/parley/test/service/send.test.ts")).toBe(false);
});
