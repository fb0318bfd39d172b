/** What the page's shell says of the service; see `shellFor`. */
interface ServiceFacts {
  /** Webhooks can call this machine. */
  allowsLocal: boolean;
  /** The default rate limit of new keys. */
  rateLimit: string;
}

export function serviceFacts(): ServiceFacts {
  const { local, rate = "300" } = document.getElementById("console")?.dataset ?? {};
  return { allowsLocal: local !== undefined, rateLimit: rate };
}
