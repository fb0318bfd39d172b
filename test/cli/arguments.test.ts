import { expect, test } from "vitest";
import { readStartArguments } from "../../src/cli/local/arguments.ts";

const read = (...argv: string[]) => readStartArguments(argv, "/here");

test("the defaults are localhost:8787 and wrangler's data folder", () => {
  expect(read()).toEqual({
    help: false,
    verbose: false,
    port: 8787,
    ip: "localhost",
    persistTo: null,
    vars: {},
    others: [],
  });
});

test("--port and --port= are the same", () => {
  expect(read("--port", "9000").port).toBe(9000);
  expect(read("--port=9000").port).toBe(9000);
});

test("a relative --persist-to is resolved from npm's folder", () => {
  expect(read("--persist-to", "data").persistTo).toBe("/here/data");
  expect(read("--persist-to=/data").persistTo).toBe("/data");
});

test("an address may be IPv6", () => {
  expect(read("--ip", "::1").ip).toBe("::1");
});

test("--var takes several values, repeated or in a row, and keeps further colons", () => {
  const { vars, others } = read("--var", "A:1", "B:2:3", "--minify", "--var=C:", "--var", "A:4");
  expect(vars).toEqual({ A: "4", B: "2:3", C: "" });
  expect(others).toEqual(["--minify"]);
});

test("unknown arguments go to wrangler unchanged", () => {
  const { others, port } = read("src/other.ts", "--log-level", "debug", "--port", "9000", "--define=A:1", "--minify");
  expect(others).toEqual(["src/other.ts", "--log-level", "debug", "--define=A:1", "--minify"]);
  expect(port).toBe(9000);
});

test.for([
  ["--port"],
  ["--port", "--ip", "::1"],
  ["--port", "http"],
  ["--port", "65536"],
  ["--port", "-1"],
  ["--ip="],
  ["--persist-to"],
  ["--var"],
  ["--var", "NAME=value"],
  ["--var", "NAME"],
  ["--var", "A:1", "B=2:3"],
  ["--env", "staging"],
  ["-e", "staging"],
  ["--env-file=.env"],
  ["--config", "other.toml"],
  ["--remote"],
  ["-r"],
])("%j is a usage error", (argv) => {
  expect(() => read(...argv)).toThrow(expect.objectContaining({ exitCode: 2 }));
});

test("a value that may be a secret is not repeated", () => {
  expect(() => read("--var", "ADMIN_TOKEN=hunter2")).toThrow(/^(?!.*hunter2)/);
});
