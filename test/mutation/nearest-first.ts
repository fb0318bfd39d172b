import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Runs the tests that import the mutated module before those in its folder, and those before all others, each
 * the shortest file first: the first test that fails ends the run, and most mutants are killed by what is nearest.
 */
export class NearestFirst extends BaseSequencer {
  readonly #texts = new Map<string, string>();

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const [mutated = ""] = this.ctx.config.related ?? [];
    const module = mutated.slice(mutated.lastIndexOf("/src/"));
    const folder = dirname(module).replace("/src/", "/test/unit/");
    const distance = ({ moduleId }: TestSpecification) => {
      const text = this.#textOf(moduleId);
      const steps = text.includes(`${module}"`) ? 0 : moduleId.includes(`${folder}/`) ? 1 : 2;
      return steps * 1_000_000 + text.length;
    };
    return files.toSorted((one, other) => distance(one) - distance(other));
  }

  #textOf(path: string): string {
    const text = this.#texts.get(path) ?? readFileSync(path, "utf8");
    this.#texts.set(path, text);
    return text;
  }
}
