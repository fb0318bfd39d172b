/** The test file that this process runs, from its folder on. Empty outside one, as for what a whole run shares. */
export function testFile(): string {
  const worker = Reflect.get(globalThis, "__vitest_worker__") as { filepath: string } | undefined;
  return worker ? worker.filepath.slice(worker.filepath.lastIndexOf("/test/")) : "";
}
