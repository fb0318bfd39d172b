import { readdirSync, readFileSync } from "node:fs";

const folder = `${import.meta.dirname}/../../../migrations`;

/** All migrations of the directory, in their order. */
export const MIGRATIONS = readdirSync(folder)
  .filter((name) => name.endsWith(".sql"))
  .sort()
  .map((name) => readFileSync(`${folder}/${name}`, "utf8"))
  .join("\n");
