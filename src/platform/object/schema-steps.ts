/** Runs the steps of a schema that the object has not run, in one transaction. Older code leaves a newer schema as it is. */
export function prepareSchema(storage: DurableObjectStorage, steps: readonly string[]): void {
  const version = storage.kv.get<number>("schema") ?? 0;
  if (version >= steps.length) return;
  storage.transactionSync(() => {
    for (const step of steps.slice(version)) storage.sql.exec(step);
    storage.kv.put("schema", steps.length);
  });
}
