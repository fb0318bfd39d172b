export interface Check {
  name: string;
  about: string;
  /** Commands that run one after another, each of words without spaces. */
  commands: readonly string[];
}

/** Where code has types of its own: of the Workers runtime, of Node or of a browser. */
const PROGRAMS = [".", "test", "test/bench", "src/cli", "src/client", "src/web", "src/openapi", "test/page"];

const DOCUMENTS = "src/openapi/public.json src/openapi/operator.json";

/** What `npm run check` runs, in this order. */
export const CHECKS: readonly Check[] = [
  {
    name: "types",
    about: "types, with those of the runtime, of Node or of a browser",
    commands: PROGRAMS.map((program) => `tsc -p ${program}`),
  },
  { name: "env", about: "src/env.d.ts is as it is generated", commands: ["npm run cf-typegen -- --check"] },
  {
    name: "openapi",
    about: "the OpenAPI documents and the client's types are as they are generated",
    commands: ["node --no-warnings src/openapi/build.ts --check"],
  },
  {
    name: "sizes",
    about: "wrangler would deploy it, and what browsers and isolates load is within its limits",
    commands: ["node --no-warnings test/bench/check-sizes.ts"],
  },
  { name: "biome", about: "format and lint, by Biome", commands: ["biome check"] },
  {
    name: "oxlint",
    about: "lint that knows types, and races in tests, by oxlint",
    commands: ["oxlint --type-aware --deny-warnings"],
  },
  { name: "knip", about: "no unused files, exports and packages, by knip", commands: ["knip"] },
];

/** Those that ask a registry, so they run only if they are named. */
export const NAMED_ONLY: readonly Check[] = [
  {
    name: "audit",
    about: "no known problems of the service's packages",
    commands: ["npm audit --omit=dev --audit-level=low"],
  },
  {
    name: "redocly",
    about: "the OpenAPI documents, by Redocly",
    commands: [`npx -y @redocly/cli@2.77.0 lint --extends recommended --skip-rule operation-4xx-response ${DOCUMENTS}`],
  },
  {
    name: "spectral",
    about: "the OpenAPI documents, by Spectral",
    commands: [`npx -y @stoplight/spectral-cli@6.16.3 lint --fail-severity hint ${DOCUMENTS}`],
  },
];
