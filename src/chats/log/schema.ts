/**
 * The schema, in steps. An object runs the steps that it has not run yet, and keeps its data. After a release, add steps
 * and never change one. A step only adds nullable columns or tables: during a deploy, old code meets new rows.
 */
const SCHEMA_STEPS = [
  `create table messages (
     seq integer primary key,
     -- Finds a message by its id, the place of a cursor, and a call that is repeated.
     id text not null unique,
     -- The message's public JSON. Pages are joined from it as it is.
     doc text not null,
     status text generated always as (doc ->> '$.status') virtual,
     dedupe text,
     fingerprint text,
     template text,
     redacted_at integer,
     -- How many messages were queued so far, this one included: two rows tell how many were queued between them.
     queued integer not null default 0,
     -- DeliveryJson; null if no network delivers the message.
     delivery text,
     media text
   );
   -- Finds the first message of an idempotency key or of a network's id.
   create unique index messages_by_dedupe on messages (dedupe) where dedupe is not null;`,
];

/** Runs the steps that the object has not run, in one transaction. Older code leaves a newer schema as it is. */
export function prepareSchema(storage: DurableObjectStorage, steps: readonly string[] = SCHEMA_STEPS): void {
  const version = storage.kv.get<number>("schema") ?? 0;
  if (version >= steps.length) return;
  storage.transactionSync(() => {
    for (const step of steps.slice(version)) storage.sql.exec(step);
    storage.kv.put("schema", steps.length);
  });
}
