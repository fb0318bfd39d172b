import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

interface SitePage {
  headers?: Record<string, string>;
  markup: string;
}

/** A company's site until the end of the test file. @returns its origin, which is another site than the service */
export async function openSite(pageOf: (url: URL) => SitePage): Promise<string> {
  const server = createServer((request, response) => {
    const { headers, markup } = pageOf(new URL(request.url ?? "", "http://site"));
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", ...headers });
    response.end(markup);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // Another name for the same machine is another site to the browser.
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

/** The widget's script tag. The names of attributes are without `data-`. */
export function widgetTag(base: string, attributes: Record<string, string>): string {
  const data = Object.entries(attributes).map(([name, value]) => `data-${name}="${value}"`);
  return `<script src="${base}/widget.js" ${data.join(" ")} async></script>`;
}
