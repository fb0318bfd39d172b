import type { Context, Env as HonoEnv, Input, MiddlewareHandler } from "hono";

type Checked = Response | undefined;

/** A middleware that only checks, so that several can be one; see `allOf`. */
// biome-ignore lint/suspicious/noExplicitAny: a check fits any app's environment
export interface Before<E extends HonoEnv = any, I extends Input = Input> extends MiddlewareHandler<E, string, I> {
  /**
   * What a request must pass before its route: it throws the error that ends the request, or returns the response. It
   * returns a promise only if it must wait.
   */
  check(c: Context<E>): Checked | Promise<Checked>;
}

/** A middleware that makes a check before the route. */
export function before<E extends HonoEnv>(check: Before<E>["check"]): Before<E> {
  const middleware: MiddlewareHandler<E> = (c, next) => {
    const checked = check(c);
    if (checked instanceof Promise) return checked.then((response) => response ?? proceed(next));
    return checked ? Promise.resolve(checked) : next();
  };
  return Object.assign(middleware, { check });
}

/** One middleware for several, in their order. Each middleware of its own would cost a request a microsecond or two. */
export function allOf(...steps: Before[]): Before {
  return before((c) => from(0, steps, c));
}

/** Makes the checks from the nth step on. */
function from(n: number, steps: Before[], c: Context): Checked | Promise<Checked> {
  for (let at = n; at < steps.length; at++) {
    const checked = steps[at]?.check(c);
    if (checked instanceof Promise) return checked.then((response) => response ?? from(at + 1, steps, c));
    if (checked) return checked;
  }
  return undefined;
}

async function proceed(next: () => Promise<void>): Promise<undefined> {
  await next();
  return undefined;
}
