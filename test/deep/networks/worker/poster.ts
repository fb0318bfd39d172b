import { telegram } from "../../../../src/channels/telegram/adapter.ts";
import { whatsapp } from "../../../../src/channels/whatsapp/adapter.ts";
import { outboundTo, sending } from "../../../unit/channels/outbound.ts";

/** A post for the Worker: the network, its address, the file, and the time until the deadline. */
export interface Post {
  kind: keyof typeof NETWORKS;
  base: string;
  deadlineMs: number;
  file: { contentType: string; size: number; fileName: string };
}

const NETWORKS = {
  telegram: { adapter: sending(telegram), credentials: { botToken: "1:abcdefgh" } },
  whatsapp: {
    adapter: sending(whatsapp),
    credentials: { phoneNumberId: "1", accessToken: "an-access-token", appSecret: "a-secret" },
  },
};
const KEY = "file";

/** A Worker that keeps a file in a bucket (`PUT`), and sends it to a network (`POST`). */
export default {
  async fetch(request: Request, { MEDIA }: Pick<Env, "MEDIA">): Promise<Response> {
    if (request.method === "PUT") {
      await MEDIA.put(KEY, request.body);
      return new Response();
    }
    const { kind, base, deadlineMs, file } = await request.json<Post>();
    const { adapter, credentials } = NETWORKS[kind];
    const message = outboundTo("42")({
      ...{ type: "DOCUMENT", content: "Two\nlines" },
      file: { id: "med_1", width: null, height: null, ...file },
    });
    const open = async () => (await MEDIA.get(KEY)) ?? "gone";
    const files = { open, openLink: async () => "there is none", uploaded: () => null, keep() {} };
    const signal = AbortSignal.timeout(deadlineMs);
    return Response.json(await adapter.send(message, credentials, { base }, signal, undefined, files));
  },
};
