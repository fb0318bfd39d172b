import type { ChannelRows } from "../filling.ts";
import counted, * as service from "./counted.ts";

export { ChannelObject, ChatObject, KeyObject } from "./counted.ts";

export class OrganizationObject extends service.OrganizationObject {
  /** Also counts while an alarm runs, because nothing else runs during this call. */
  channelRows(channelId: string): ChannelRows {
    const { sql } = this.ctx.storage;
    const exec = sql.exec.bind(sql);
    const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
    sql.exec = ((...given: Parameters<SqlStorage["exec"]>) => {
      const cursor = exec(...given);
      cursors.push(cursor);
      return cursor;
    }) as typeof sql.exec;
    try {
      void this.list({}, { page: 2, limit: 20 }, true);
    } finally {
      sql.exec = exec;
    }
    const rows = (table: string) =>
      Number(exec(`select count(*) as count from ${table} where channel_id = ?`, channelId).one().count);
    return {
      read: cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
      chats: rows("chats"),
      addresses: rows("addresses"),
    };
  }
}

/** The counted service, with a route that returns what an organization's object has of a channel. */
export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname !== "/bench/channel-rows") return counted.fetch(request, env, context);
    const { organizationId, channelId } = await request.json<{ organizationId: string; channelId: string }>();
    const organizations = env.ORGANIZATIONS as unknown as DurableObjectNamespace<OrganizationObject>;
    return Response.json(await organizations.getByName(organizationId).channelRows(channelId));
  },
} satisfies ExportedHandler<Env>;
