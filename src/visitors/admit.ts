import { type ChannelRecord, channelRecord, verifyChannel } from "../calls/channel-record.ts";
import { addressOfToken, type Claim, matchingSecret, readClaim } from "../channels/web/identity.ts";
import { isAllowedOrigin } from "../channels/web/origin.ts";
import { type SocketRefusal, secretFingerprint } from "../channels/web/socket-policy.ts";
import { webSpec } from "../channels/web/spec.ts";
import { clientNetwork } from "../http/client-network.ts";
import { awayAt } from "../model/away.ts";
import type { ChannelSettings } from "../model/channel.ts";
import type { Region } from "../model/region.ts";
import { type ConnectingVisitor, type Visitor, webChatId } from "../model/visitor.ts";

/** A web channel; null if no web channel has this id. */
export async function webChannel(env: Env, channelId: string): Promise<ChannelRecord | null> {
  const record = await channelRecord(env, channelId);
  return record?.kind === "web" ? record : null;
}

/** Why a visitor is not let in. */
export type VisitorRefusal = Extract<SocketRefusal, "no_channel" | "wrong_origin" | "wrong_identity">;

/** A visitor who was let in, and the region of the channel's organization. */
export interface Admitted {
  visitor: Visitor;
  region: Region | null;
}

/**
 * Decides whether to let a visitor in: checks the channel, then the origin, then the identity. Writes nothing.
 * @param claim who the visitor claims to be; null if the request doesn't say
 * @throws if the directory or a secret can't be read
 */
export async function admitVisitor(
  env: Env,
  channelId: string,
  request: Request,
  claim: Claim | null,
): Promise<Admitted | VisitorRefusal> {
  const record = await webChannel(env, channelId);
  if (!record) return "no_channel";
  const ownOrigin = new URL(request.url).origin;
  const origin = request.headers.get("Origin");
  const allowing = await recordAllowing(env, channelId, origin, ownOrigin);
  if (!allowing) return "wrong_origin";
  const identity = claim && (await verifyClaim(env, channelId, claim));
  if (!identity) return "wrong_identity";
  const { address, fingerprint } = identity;
  return {
    region: record.region,
    visitor: {
      chatId: await webChatId(channelId, address),
      organizationId: record.organizationId,
      channelId,
      address,
      clientNetwork: clientNetwork(request.headers.get("CF-Connecting-IP")),
      admission: {
        ...{ origin, ownOrigin, fingerprint, readAt: allowing.readAt, stopWords: allowing.settings.stopWords },
        away: awayAt(allowing.settings, Date.now()),
      },
      hasUploads: mayUpload(allowing.settings, fingerprint !== null),
    },
  };
}

/** Decides again, by the channel as it is now; while the directory is down, as it was last known. See `admitVisitor`. */
export async function admitVisitorAgain(
  env: Env,
  channelId: string,
  request: Request,
  claim: Claim,
): Promise<Admitted | VisitorRefusal> {
  // The cached record is this one from now on.
  await channelRecord(env, channelId, { fresh: "now" }).catch(() => null);
  return admitVisitor(env, channelId, request, claim);
}

/** Decides whether to accept a visitor's socket; see `admitVisitor`. */
export async function admitSocket(
  env: Env,
  channelId: string,
  request: Request,
): Promise<{ visitor: ConnectingVisitor; region: Region | null } | SocketRefusal> {
  const admitted = await admitVisitor(
    env,
    channelId,
    request,
    readClaim(request.headers.get("Sec-WebSocket-Protocol")),
  );
  if (typeof admitted === "string") return admitted;
  const url = new URL(request.url);
  const after = numberIn(url, "after");
  const events = numberIn(url, "events");
  if (Number.isNaN(after) || Number.isNaN(events)) return "bad_request";
  return { ...admitted, visitor: { ...admitted.visitor, after: after ?? 0, events } };
}

/** @param isVerified whether the site vouches for the visitor */
function mayUpload({ uploads = webSpec.defaults.uploads }: ChannelSettings, isVerified: boolean): boolean {
  return uploads === "everyone" || (uploads === "verified" && isVerified);
}

/** A number in the query; null if it is not given, `NaN` if it is given twice or is not a number. */
function numberIn(url: URL, name: string): number | null {
  const [text, ...others] = url.searchParams.getAll(name);
  if (text === undefined) return null;
  return /^\d{1,15}$/.test(text) && others.length === 0 ? Number(text) : Number.NaN;
}

/** The channel, if it accepts sockets from pages of `origin`; else null. */
async function recordAllowing(
  env: Env,
  channelId: string,
  origin: string | null,
  ownOrigin: string,
): Promise<ChannelRecord | null> {
  const checked = await verifyChannel(env, channelId, async ({ settings }) =>
    isAllowedOrigin(origin, ownOrigin, settings.allowedOrigins) ? true : null,
  );
  return checked?.verified ? checked.record : null;
}

/** The address that a claim proves, and the fingerprint of the secret that verified it; null if the claim is invalid. */
async function verifyClaim(
  env: Env,
  channelId: string,
  claim: Claim,
): Promise<{ address: string; fingerprint: string | null } | null> {
  if (claim.kind === "token") return { address: await addressOfToken(claim.token), fingerprint: null };
  // A secret that was rotated out must not verify new sockets. The fresh record costs at most one read per second.
  const checked = await verifyChannel(
    env,
    channelId,
    async (record) => matchingSecret(claim, await record.identitySecrets(Date.now()), Date.now()),
    { fresh: true },
  );
  return checked?.verified ? { address: claim.user, fingerprint: await secretFingerprint(checked.verified) } : null;
}
