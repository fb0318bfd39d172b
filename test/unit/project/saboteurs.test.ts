import { expect, test } from "vitest";
import { DELIVERY_SABOTEURS } from "../../simulate/delivery/saboteurs.ts";
import { KEY_SABOTEURS } from "../../simulate/keys/saboteurs.ts";
import { LIFE_SABOTEURS } from "../../simulate/life/saboteurs.ts";
import { ORGANIZATION_SABOTEURS } from "../../simulate/organization/saboteurs.ts";
import { WEBHOOK_SABOTEURS } from "../../simulate/webhooks/saboteurs.ts";

const sources = import.meta.glob<string>("../../../src/**/*.ts", { query: "?raw", import: "default", eager: true });

// The rare ones run by hand only, so nothing else says that their place has changed.
test.each([
  ...Object.entries(DELIVERY_SABOTEURS),
  ...Object.entries(KEY_SABOTEURS),
  ...Object.entries(LIFE_SABOTEURS),
  ...Object.entries(ORGANIZATION_SABOTEURS),
  ...Object.entries(WEBHOOK_SABOTEURS),
])("the place of the wrong version is in the code once: %s", (_name, { file, right }) => {
  expect(sources[`../../../${file}`]?.split(right)).toHaveLength(2);
});
