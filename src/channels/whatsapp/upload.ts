import * as z from "zod/mini";
import type { Credentials } from "../../model/channel.ts";
import type { OutboundFile } from "../../model/file.ts";
import type { PartRefusal } from "../../model/network.ts";
import type { FilesPort, Network } from "../network/adapter.ts";
import { postFile } from "../network/post-file.ts";
import { notAccepted } from "../network/refusals.ts";
import { readMetaAnswer } from "./answer.ts";
import { graphHeaders, graphUrl, isProofRefused } from "./graph.ts";

/** Meta keeps an upload for 30 days. */
export const UPLOAD_MS = 29 * 86_400_000;

const uploaded = z.object({ id: z.string().check(z.minLength(1), z.maxLength(128)) });

/** Uploads a file; never throws. Without an answer, no message was sent, so the file can be uploaded again. */
export async function uploadToWhatsApp(
  file: OutboundFile,
  credentials: Credentials,
  network: Network,
  signal: AbortSignal,
  files: FilesPort,
): Promise<{ outcome: "uploaded"; id: string } | PartRefusal> {
  const path = `${credentials.phoneNumberId}/media`;
  const post = {
    url: await graphUrl(network, path, credentials),
    headers: graphHeaders(credentials),
    fields: { messaging_product: "whatsapp", type: file.contentType },
    field: "file",
    file,
  };
  const upload = () => postFile(post, files, signal, (response) => readMetaAnswer(response, credentials, signal));
  let answer = await upload();
  if (answer.outcome === "channel_broken" && (await isProofRefused(answer.reason, post.url, credentials))) {
    post.url = await graphUrl(network, path, credentials);
    answer = await upload();
  }
  if (answer.outcome === "unknown") return notAccepted("upload_unknown", answer.message);
  if (answer.outcome !== "answered") return answer;
  const { data } = uploaded.safeParse(answer.body);
  return data ? { outcome: "uploaded", id: data.id } : notAccepted("upload_unknown", "The upload's answer has no id");
}
