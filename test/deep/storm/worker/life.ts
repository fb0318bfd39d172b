import { env } from "cloudflare:workers";

const LIFE = (env as unknown as Record<string, string | undefined>).STORM_LIFE ?? "1";
const HEADER = "storm-life";

const send = globalThis.fetch;

/** Each call out says which start of the server made it: it may arrive when the next start has begun. */
globalThis.fetch = (input, init) => {
  const request = new Request(input, init);
  request.headers.set(HEADER, LIFE);
  return send(request);
};
