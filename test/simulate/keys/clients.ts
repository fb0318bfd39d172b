import { type Isolate, Requests } from "../objects/requests.ts";
import type { KeyBook } from "./book.ts";
import type { Judge, Outcome } from "./judge.ts";
import type { Service } from "./load-service.ts";
import type { KeyWorld } from "./rules.ts";
import type { Query } from "./versions.ts";

const OPERATOR = { scope: "any", type: "operator", id: "operator", name: "Operator" } as const;
export const ADDRESSES = ["192.0.2.1", "192.0.2.2"] as const;
export const PERMISSIONS = ["messages:send", "messages:read"] as const;
export const LIMITS = [1, 19, 20, 21, 300, 1_000] as const;
export const WINDOWS = [1, 10, 60] as const;
export const QUOTAS = [null, 30, 300, 3_000, 1_000_000] as const;

/** The operator, who changes keys. */
export class Operator extends Requests {
  readonly #service: Service;
  readonly #judge: Judge;
  readonly #organizationId: string;
  readonly #books: ReadonlyMap<string, KeyBook>;

  constructor(
    world: KeyWorld,
    service: Service,
    judge: Judge,
    isolates: readonly Isolate[],
    organization: { id: string; books: ReadonlyMap<string, KeyBook> },
  ) {
    super(world, isolates, service.isOutage);
    this.#service = service;
    this.#judge = judge;
    this.#organizationId = organization.id;
    this.#books = organization.books;
  }

  /** `PATCH /keys/{id}`. */
  patch(id: string): void {
    const { world } = this;
    const patch = world.pick([
      { permissions: world.pick([[...PERMISSIONS], ["messages:send" as const]]) },
      { ipAllowlist: world.pick([[], [ADDRESSES[0]]]) },
      { rateLimit: { limit: world.pick(LIMITS), windowSeconds: world.pick(WINDOWS) } },
      { monthlyQuota: world.pick(QUOTAS) },
      { expiresAt: world.pick([null, world.now + world.between(100, 20_000)]) },
    ]);
    this.request("PATCH key", async ({ env }) => {
      await this.#service.patchKey(env, OPERATOR, id, patch as Parameters<Service["patchKey"]>[3]);
    });
  }

  /** `POST /keys/{id}/rotate`. */
  rotate(id: string, overlapSeconds: number): void {
    this.request("rotate key", async ({ env }) => {
      await this.#service.rotateKey(env, OPERATOR, id, { overlapSeconds });
    });
  }

  /** `DELETE /keys/{id}`. */
  revoke(id: string): void {
    const row = { id: this.name("act"), actor: OPERATOR, action: "key.revoke", target: id, requestId: "", changed: [] };
    const act = { organizationId: this.#organizationId, target: id, row, begin: async () => {} };
    this.request("DELETE key", async ({ env }) => {
      await this.#service.revokeKey(env, OPERATOR, act, id);
    });
  }

  /** `DELETE /organizations/{id}`. */
  deleteOrganization(): void {
    this.request("DELETE organization", async ({ env }) => {
      await this.#service.eraseOrganization(env, this.#organizationId);
      for (const book of this.#books.values()) book.deletedAt = Math.min(book.deletedAt, this.world.now);
      this.#judge.isDeleted = true;
    });
  }
}

/** Sends a request with a key. @param then is called after its answer, unless its isolate is lost */
export function ask(
  { world, service, judge }: { world: KeyWorld; service: Service; judge: Judge },
  isolate: Isolate,
  query: Query,
  then = () => {},
): void {
  isolate.party.enter(async () => {
    const request = { query, isolate: isolate.party.name, begunAt: world.now };
    const waitUntil = (work: Promise<unknown>) => void work.catch((error: unknown) => world.fail(error));
    try {
      const outcome = await service.admit(isolate.env, { waitUntil }, query);
      world.note(() => `${isolate.party.name} ${JSON.stringify(query)}: ${JSON.stringify(outcome)}`);
      judge.ended(request, outcome as unknown as Outcome);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== "unavailable") world.fail(error);
      world.count("unavailable");
    }
    then();
  });
}
