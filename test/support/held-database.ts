import { env } from "cloudflare:workers";

/** Marks a held statement, also behind the service's own wrapper. */
const HELD = Symbol("held");

/** The test's D1, which waits for `meanwhile` before it runs the first statement that matches, alone or in a batch. */
export function heldDatabase(statement: RegExp, meanwhile: () => Promise<unknown>): Partial<Env> {
  let isHeld = false;
  const hold = (prepared: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(prepared, {
      get(target, name) {
        if (name === HELD) return true;
        const member = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        if (name === "bind") return (...values: unknown[]) => hold(target.bind(...values));
        return async (...given: unknown[]) => {
          await meanwhile();
          return Reflect.apply(member, target, given);
        };
      },
    });
  const DB = new Proxy(env.DB, {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (name === "batch") {
        return async (statements: D1PreparedStatement[]) => {
          if (statements.some((each) => Reflect.get(each, HELD) === true)) await meanwhile();
          return target.batch(statements);
        };
      }
      if (name !== "prepare") return typeof member === "function" ? member.bind(target) : member;
      return (sql: string) => {
        const prepared = target.prepare(sql);
        if (isHeld || !statement.test(sql)) return prepared;
        isHeld = true;
        return hold(prepared);
      };
    },
  });
  return { DB };
}
