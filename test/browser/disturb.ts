import type { BrowserContext, Page, Route } from "playwright-core";

/** What tests do to a page's requests and timers. */

type Handler = Parameters<Page["route"]>[1];
type Options = Parameters<Page["route"]>[2];

/**
 * Hands the requests that are made from here on to a handler. After `route` alone, a request that a page makes at once
 * can reach the service past the handler, and the driver then never says that it was made: the renderer is told of the
 * handler on one way, and of a key that is pressed on another.
 * @param address of the requests, as `route` takes it
 */
export async function intercept(
  of: Page | BrowserContext,
  address: string | RegExp,
  handler: Handler,
  options?: Options,
): Promise<void> {
  await of.route(address, handler, options);
  const frames = ("pages" in of ? of.pages() : [of]).flatMap((page) => page.frames());
  // The answer comes on the first of these ways. A frame that is gone has none, and asks for nothing.
  await Promise.allSettled(frames.map((frame) => frame.evaluate(() => 0)));
}

/** Holds up requests. @returns what lets them through */
export async function holdUp(of: Page | BrowserContext, address: string | RegExp): Promise<() => void> {
  const gate = Promise.withResolvers<void>();
  await intercept(of, address, async (route) => {
    await gate.promise;
    await route.continue();
  });
  return gate.resolve;
}

/**
 * Answers requests in the service's place, or cuts them off. The route itself stays: removing one while a request is on
 * its way could lose the request.
 * @param answer what becomes of a request
 * @returns what lets later requests through
 */
export async function takeOver(
  of: Page | BrowserContext,
  address: RegExp,
  answer = (route: Route): Promise<void> => route.abort(),
): Promise<() => void> {
  let isOver = false;
  await intercept(of, address, (route) => (isOver ? route.fallback() : answer(route)));
  return () => {
    isOver = true;
  };
}

/**
 * Notes a page's requests from here on that change something.
 * @param path of those that are meant
 * @returns reads the noted ones as method and path. All that the page asked for before a read are among them.
 */
export function noteChanges(page: Page, path: RegExp): () => Promise<string[]> {
  const changes: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() !== "GET" && path.test(pathname)) changes.push(`${request.method()} ${pathname}`);
  });
  return async () => {
    await requestsAreKnown(page);
    return [...changes];
  };
}

/** Resolves once the test has heard of all that a page of the console asked for before. */
export async function requestsAreKnown(page: Page): Promise<void> {
  await page.evaluate(() => fetch("/console/"));
}

/** Timers of this length never ring on the page, in milliseconds: a test must not be a race with them. */
export async function stopTimers(page: Page, length: number): Promise<void> {
  const stop = (stopped: number) => {
    const { setTimeout } = globalThis;
    const own = (run: () => void, ms?: number, ...given: []) =>
      setTimeout(run, ms === stopped ? 2 ** 31 - 1 : ms, ...given);
    Object.assign(globalThis, { setTimeout: own });
  };
  await page.addInitScript(stop, length);
  await page.evaluate(stop, length);
}
