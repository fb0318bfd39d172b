/** What the page's shell says of the service; see `shellFor`. */
interface ServiceFacts {
  /** Webhooks can call this machine. */
  allowsLocal: boolean;
  /** The default rate limit of new keys. */
  rateLimit: string;
  /** The origin of visitors' pages and the widget. */
  publicOrigin: string;
}

export function serviceFacts(): ServiceFacts {
  const { local, rate = "300", host = location.host } = document.getElementById("console")?.dataset ?? {};
  return { allowsLocal: local !== undefined, rateLimit: rate, publicOrigin: `${location.protocol}//${host}` };
}
