/** What leaves a Worker: a call of an object, or a round trip to D1. */
export type Hop = "object" | "database";

/** Runs `go`, which makes the hop. `statements` is the number of statements for D1, and 1 for an object. */
export type Around = <T>(hop: Hop, statements: number, go: () => Promise<T>) => Promise<T>;

/** An environment whose D1 databases and objects make each hop through `around`. */
export function withHops<E extends object>(env: E, around: Around): E {
  const wrapped = Object.entries(env).map(([name, binding]: [string, unknown]) => {
    if (typeof binding !== "object" || binding === null) return [name, binding];
    if ("prepare" in binding) return [name, database(binding as D1Database, around)];
    return [name, "getByName" in binding ? namespace(binding, around) : binding];
  });
  return Object.fromEntries(wrapped) as E;
}

/** Call it with `Reflect.apply`: `.apply` of a stub's method is a call to the object. */
type Method = (...given: unknown[]) => unknown;

function namespace<N extends object>(target: N, around: Around): N {
  return new Proxy(target, {
    get(_, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        const made = Reflect.apply(value as Method, target, given) as object;
        if (property === "getByName" || property === "get") return stub(made, around);
        return property === "jurisdiction" ? namespace(made, around) : made;
      };
    },
  });
}

function stub<S extends object>(target: S, around: Around): S {
  return new Proxy(target, {
    get(_, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => around("object", 1, async () => Reflect.apply(value as Method, target, given));
    },
  });
}

const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();

function database(target: D1Database, around: Around): D1Database {
  return new Proxy(target, {
    get(_, property) {
      if (property === "prepare") return (query: string) => statement(target.prepare(query), around);
      if (property === "batch") {
        return (given: D1PreparedStatement[]) =>
          around("database", given.length, () => target.batch(given.map((one) => originals.get(one) ?? one)));
      }
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function statement(target: D1PreparedStatement, around: Around): D1PreparedStatement {
  const wrapped = new Proxy(target, {
    get(_, property) {
      if (property === "bind") return (...values: unknown[]) => statement(target.bind(...values), around);
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => around("database", 1, async () => Reflect.apply(value as Method, target, given));
    },
  });
  originals.set(wrapped, target);
  return wrapped;
}
