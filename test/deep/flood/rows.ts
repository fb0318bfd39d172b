import { env } from "cloudflare:workers";

/** The number of rows in each table of the directory. */
export async function directoryRows(): Promise<Record<string, number>> {
  const { results } = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like '\\_%' escape '\\' and name not like 'sqlite%'",
  ).all<{ name: string }>();
  const counts: Record<string, number> = {};
  for (const { name } of results) {
    counts[name] = Number(await env.DB.prepare(`select count(*) as rows from "${name}"`).first("rows"));
  }
  return counts;
}
