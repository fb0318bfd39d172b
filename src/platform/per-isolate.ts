/**
 * What this isolate keeps in memory between requests, made at its first use and apart for each environment: production
 * has one, tests have several. Anything kept so may be lost at any moment, and is bounded by who keeps it.
 */
export function perIsolate<Kept>(make: () => Kept): (env: Env) => Kept {
  const kept = new WeakMap<Env, Kept>();
  return (env) => {
    let known = kept.get(env);
    if (known === undefined) kept.set(env, (known = make()));
    return known;
  };
}
