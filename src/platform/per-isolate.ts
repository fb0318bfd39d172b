/**
 * A value that this isolate keeps in memory between requests, one for each `Env`: production has one, tests have
 * several. It is created by its first use and may be lost at any moment. The caller must limit its size.
 */
export function perIsolate<Kept>(make: () => Kept): (env: Env) => Kept {
  const kept = new WeakMap<Env, Kept>();
  return (env) => {
    let known = kept.get(env);
    if (known === undefined) kept.set(env, (known = make()));
    return known;
  };
}
