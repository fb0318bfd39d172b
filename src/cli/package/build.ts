import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";

const root = join(import.meta.dirname, "../../..");
const run = promisify(execFile);

interface Manifest {
  [field: string]: unknown;
  dependencies: Record<string, string>;
}

/**
 * Builds the package for other projects: the client, as ES modules and as CommonJS, and the `parley` command in one file. It depends on what the client
 * imports, and on nothing of the service.
 * @param folder where the package is written; it must be empty
 */
export async function buildPackage(folder: string): Promise<void> {
  const command = join(folder, "dist/cli/parley");
  const commonJs = join(folder, "dist/commonjs");
  for (const made of [command, commonJs]) await mkdir(made, { recursive: true });
  await Promise.all([
    compileClient(join(folder, "dist")),
    compileClient(commonJs, "--module", "commonjs", "--moduleResolution", "bundler", "--verbatimModuleSyntax", "false"),
    // For Node, the type of a file is that of the nearest package.json.
    writeFile(join(commonJs, "package.json"), '{ "type": "commonjs" }\n'),
    // As deep below the package's root as it is in the repository, because it looks for files there.
    build({
      entryPoints: [join(root, "src/cli/parley/main.ts")],
      outfile: join(command, "main.js"),
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node22",
      logLevel: "warning",
    }),
    cp(join(import.meta.dirname, "bin.js"), join(command, "bin.js")),
    cp(join(import.meta.dirname, "readme.md"), join(folder, "README.md")),
    writeFile(join(folder, "LICENSE"), await license()),
    writeFile(join(folder, "package.json"), JSON.stringify(await manifest(), null, 2)),
  ]);
}

/** The page of the license, whose first line is a heading. */
async function license(): Promise<string> {
  return (await readFile(join(root, "src/docs/license.md"), "utf8")).replace(/^# /, "");
}

async function manifest() {
  const text = await readFile(join(root, "package.json"), "utf8");
  const { name, version, description, license, type, engines, dependencies } = JSON.parse(text) as Manifest;
  return {
    name,
    version,
    description,
    license,
    type,
    engines,
    bin: { parley: "dist/cli/parley/bin.js" },
    exports: { "./client": { import: filesOf("./dist"), require: filesOf("./dist/commonjs") } },
    dependencies: { "openapi-fetch": dependencies["openapi-fetch"] },
  };
}

/** The client's types and code in a folder of the package. */
function filesOf(folder: string) {
  return { types: `${folder}/client/index.d.ts`, default: `${folder}/client/index.js` };
}

/** @throws Error with the compiler's output */
async function compileClient(outDir: string, ...options: string[]): Promise<void> {
  const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  const settings = join(root, "src/client/tsconfig.build.json");
  await run(process.execPath, [compiler, "-p", settings, "--outDir", outDir, ...options]).catch(
    ({ stdout }: { stdout: string }) => {
      throw new Error(stdout);
    },
  );
}
