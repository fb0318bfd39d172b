import "./life.ts";

/** The service, whose calls out say which start of the server made them. */
export * from "../../../../src/index.ts";
export { default } from "../../../../src/index.ts";
