import { expect, test } from "vitest";
import { templatePartsBody } from "../../../src/model/template-schema.ts";

/** What the values of a template's parts are refused for: `path message`. */
function faultsOf(parts: unknown): string[] {
  const { error } = templatePartsBody.safeParse(parts);
  return error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`) ?? [];
}

const x = (length: number) => "x".repeat(length);
const button = (fields: object) => ({ buttons: [{ index: 0, ...fields }] });
const buttons = (count: number) => ({ buttons: Array.from({ length: count }, () => ({ index: 9 })) });

test.each([
  [{}],
  [{ header: {}, buttons: [] }],
  [{ header: { mediaUrl: "https://a.example/b.pdf", fileName: x(240) } }],
  [{ header: { mediaId: x(64), fileName: "Plan.pdf" } }],
  [{ header: { variables: { name: "Ada", count: 3 } } }],
  [{ header: { location: { latitude: 52.5, longitude: 13.4, name: "Office" } } }],
  [button({ urlSuffix: x(2_000), payload: x(200), code: x(15) })],
  [buttons(10)],
])("the parts %j are accepted as they are", (parts) => {
  expect(templatePartsBody.parse(parts)).toEqual(parts);
});

test("null means absent in each part, and an unknown field is dropped", () => {
  const nulls = { mediaUrl: null, mediaId: null, fileName: null, variables: null, location: null, unknown: 1 };
  expect(JSON.stringify(templatePartsBody.parse({ header: nulls, buttons: null }))).toBe('{"header":{}}');
  const bare = { index: 1, urlSuffix: null, payload: null, code: null };
  expect(JSON.stringify(templatePartsBody.parse({ header: null, buttons: [bare] }))).toBe('{"buttons":[{"index":1}]}');
});

test.each([["abc"], ["acb"], ["bac"], ["bca"], ["cab"], ["cba"]])(
  "the header's variables in the order %s are sorted",
  (order) => {
    const variables = Object.fromEntries([...order].map((name) => [name, name.toUpperCase()]));
    const { header } = templatePartsBody.parse({ header: { variables } });
    expect(JSON.stringify(header)).toBe('{"variables":{"a":"A","b":"B","c":"C"}}');
  },
);

const ONE_LINE = "must be one line, without control characters";
const FILE_NAME =
  "must be a file name: without slashes, backslashes, control characters and characters that turn the direction of text";

test.each([
  [{ header: "Plan" }, "header must be an object"],
  [{ header: { mediaUrl: "http://a.example/b.pdf" } }, "header.mediaUrl must be an https URL"],
  [{ header: { mediaId: "" } }, "header.mediaId must not be empty"],
  [{ header: { mediaId: x(65) } }, "header.mediaId must have at most 64 characters"],
  [{ header: { fileName: x(241) } }, "header.fileName must have at most 240 characters"],
  [{ header: { fileName: " " } }, "header.fileName must not be blank"],
  [{ header: { fileName: "a\ud800" } }, "header.fileName must be well-formed Unicode"],
  [{ header: { fileName: "../a" } }, `header.fileName ${FILE_NAME}`],
  [{ header: { variables: { a: true } } }, "header.variables.a must be a string or a number"],
  [{ header: { location: { latitude: 91, longitude: 0 } } }, "header.location.latitude must be at most 90"],
  [{ buttons: {} }, "buttons must be a list"],
  [{ buttons: [{}] }, "buttons.0.index is required"],
  [{ buttons: [{ index: -1 }] }, "buttons.0.index must be at least 0"],
  [{ buttons: [{ index: 10 }] }, "buttons.0.index must be less than 10"],
  [{ buttons: [{ index: 0.5 }] }, "buttons.0.index must be a whole number"],
  [buttons(11), "buttons must have at most 10 entries"],
  [button({ urlSuffix: x(2_001) }), "buttons.0.urlSuffix must have at most 2000 characters"],
  [button({ payload: x(201) }), "buttons.0.payload must have at most 200 characters"],
  [button({ code: x(16) }), "buttons.0.code must have at most 15 characters"],
  [button({ code: " " }), "buttons.0.code must not be blank"],
  [button({ payload: "a\ud800" }), "buttons.0.payload must be well-formed Unicode"],
  [button({ urlSuffix: "a\nb" }), `buttons.0.urlSuffix ${ONE_LINE}`],
])("%j is refused: %s", (parts, fault) => {
  expect(faultsOf(parts)).toEqual([fault]);
});
