/**
 * Gives an object's storage the tables that it had after the first `count` steps of its schema, with the rows and columns
 * that they have now. An instance of the object that starts afterward runs the other steps.
 */
export function downgrade({ sql, kv }: DurableObjectStorage, steps: readonly string[], count: number): void {
  const names = () =>
    sql
      .exec<{ name: string }>("select name from sqlite_master where type = 'table'")
      .toArray()
      .map(({ name }) => name);
  const text = steps.join("\n");
  const rows = new Map<string, Record<string, SqlStorageValue>[]>();
  for (const name of names()) {
    if (!text.includes(`create table ${name} (`)) continue;
    rows.set(name, sql.exec(`select * from ${name}`).toArray());
    sql.exec(`drop table ${name}`);
  }
  for (const step of steps.slice(0, count)) sql.exec(step);
  kv.put("schema", count);
  for (const [name, values] of rows) {
    if (!names().includes(name)) continue;
    const columns = sql
      .exec<{ name: string }>("select name from pragma_table_info(?)", name)
      .toArray()
      .map((column) => column.name);
    const insert = `insert into ${name} (${columns.join()}) values (${columns.map(() => "?").join()})`;
    for (const row of values) sql.exec(insert, ...columns.map((column) => row[column] ?? null));
  }
}
