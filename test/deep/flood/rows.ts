import { env } from "cloudflare:workers";

/** The number of rows in each table of the directory. */
export async function directoryRows(): Promise<Record<string, number> & { chats: number; chat_addresses: number }> {
  const { results } = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like '\\_%' escape '\\' and name not like 'sqlite%'",
  ).all<{ name: string }>();
  const counts = { chats: 0, chat_addresses: 0 };
  for (const { name } of results) {
    const rows = await env.DB.prepare(`select count(*) as rows from "${name}"`).first<number>("rows");
    Object.assign(counts, { [name]: rows });
  }
  return counts;
}
