/**
 * Brings an object's tables up to date, in one transaction. An object without tables runs the first step, which is the
 * whole schema of today. Another one runs the steps that it has not run. Older code leaves a newer schema as it is.
 */
export function prepareSchema(storage: DurableObjectStorage, steps: readonly string[]): void {
  const version = storage.kv.get<number>("schema") ?? 0;
  if (version >= steps.length) return;
  storage.transactionSync(() => {
    for (const step of steps.slice(version, version === 0 ? 1 : undefined)) storage.sql.exec(step);
    storage.kv.put("schema", steps.length);
  });
}
