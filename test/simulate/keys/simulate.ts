import { Calls, Directory } from "../objects/calls.ts";
import { MIGRATIONS } from "../objects/migrations.ts";
import { SimulatedObject } from "../objects/object.ts";
import { Party } from "../objects/party.ts";
import { pickAction, usePlatform } from "../objects/platform.ts";
import type { Isolate } from "../objects/requests.ts";
import { type ObjectRun, runSeed } from "../objects/scenario.ts";
import { Database } from "../objects/storage.ts";
import { EPOCH, World } from "../objects/world.ts";
import { KeyBook } from "./book.ts";
import { ADDRESSES, ask, LIMITS, Operator, PERMISSIONS, QUOTAS, WINDOWS } from "./clients.ts";
import { Judge } from "./judge.ts";
import type { Service } from "./load-service.ts";
import { checkRest } from "./rest.ts";
import { CLOCK_FAULTS, KEY_FAULTS, type KeyWorld, LOSSY_FAULTS } from "./rules.ts";
import { type Query, Versions } from "./versions.ts";

const ROUNDS = 8;
const MAX_EVENTS = 60_000;
const DAY = 86_400_000;
const MONTH_END = Date.parse("2026-12-01T00:00:00.000Z");
const ORGANIZATION = "org_g000000000000000";
const KEYS = ["key_g00000000000000a", "key_g00000000000000b"];
/** D1 ends a statement after this time. */
const LONGEST_OF_D1_MS = 30_000;
/** A change keeps its fence while the clocks of its object's machines are no further apart, and are set no further back. */
const OBJECT_SKEW_MS = 3_000;

/** The directory's tables, which tell of what is written. */
class WatchedDatabase extends Database {
  written: () => void = () => {};

  override query(sql: string, values: readonly unknown[]): ReturnType<Database["query"]> {
    const result = super.query(sql, values);
    this.#told(sql);
    return result;
  }

  override arrays(sql: string, values: readonly unknown[]): unknown[][] {
    const result = super.arrays(sql, values);
    this.#told(sql);
    return result;
  }

  #told(sql: string): void {
    if (/^\s*(insert|update|delete)\b/i.test(sql)) this.written();
  }
}

const tables = new WatchedDatabase();
tables.run(MIGRATIONS);

/** Runs keys' objects and isolates that ask them, while clients call, keys change, and the faults of this seed happen. */
export async function simulateKeys(service: Service, seed: number, isTraced = false): Promise<ObjectRun> {
  // In each fourth seed all units are used or returned, and the counts must be exact.
  const faults = seed % 4 === 0 ? KEY_FAULTS.filter((fault) => !LOSSY_FAULTS.includes(fault)) : KEY_FAULTS;
  const world: KeyWorld = new World(seed, faults, isTraced);
  return runSeed(seed, world, new Simulation(world, service));
}

class Simulation {
  readonly #world: KeyWorld;
  readonly #service: Service;
  readonly #calls: Calls;
  readonly #directory: Directory;
  readonly #objects = new Map<string, SimulatedObject>();
  readonly #books = new Map<string, KeyBook>();
  /** What the organization's object was told of each key. */
  readonly #reported = new Map<string, number>();
  readonly #judge: Judge;
  readonly #isolates: Isolate[];
  readonly #operator: Operator;
  readonly #isSolo: boolean;
  /** In which round the organization is deleted; null if it is not. */
  readonly #deletesAt: number | null;

  constructor(world: KeyWorld, service: Service) {
    this.#world = world;
    this.#service = service;
    this.#calls = new Calls(world, LONGEST_OF_D1_MS);
    this.#isSolo = world.random() < 0.1;
    this.#deletesAt = !this.#isSolo && world.random() < 0.2 ? world.between(1, ROUNDS - 1) : null;
    if (world.random() < 0.3) world.now = MONTH_END - world.between(100, world.pick([5_000, 40_000]));
    usePlatform(service, world);
    tables.written = () => {};
    this.#directory = new Directory(tables);
    this.#fillDirectory();
    this.#judge = new Judge(world, this.#books);
    this.#judge.isSolo = this.#isSolo;
    const names = Array.from({ length: this.#isSolo ? 1 : world.between(2, 4) }, (_, n) => `isolate ${n + 1}`);
    this.#isolates = names.map((name) => this.#isolate(name, 180_000));
    // The ends of old secrets are by its clock.
    const consoles = [this.#isolate("console", 500)];
    const organization = { id: ORGANIZATION, books: this.#books };
    this.#operator = new Operator(world, service, this.#judge, consoles, organization);
  }

  async run(): Promise<void> {
    const world = this.#world;
    for (let n = 0; n < ROUNDS; n++) {
      if (n === this.#deletesAt) this.#deleteOrganization();
      const bursts = this.#isSolo ? (n === 0 ? 1 : 0) : world.between(1, 3);
      for (let burst = 0; burst < bursts; burst++) this.#burst();
      if (!this.#isSolo) this.#change(world.between(0, 1_500));
      if (!this.#isSolo && world.random() < 0.1) this.#settle();
      if (!this.#isSolo && world.random() < 0.1) this.#endSecret();
      this.#breakSomething();
      await world.run(world.now + world.pick([200, 700, 1_500, 3_000, 12_000, 70_000]), 20_000);
    }
    world.isFaulty = false;
    this.#directory.isDown = false;
    for (const { party } of this.#isolates) party.startClock();
    this.#operator.maxTries = 20;
    const isLeft = await world.run(world.now + 3 * DAY, MAX_EVENTS);
    world.check("rest", !isLeft, () => "alarms go on");
    checkRest({ world, objects: this.#objects, books: this.#books, reported: this.#reported, judge: this.#judge });
  }

  get #place() {
    return { world: this.#world, service: this.#service, judge: this.#judge };
  }

  close(): void {
    for (const { storage } of this.#objects.values()) storage.close();
  }

  /** Some requests of a client, at its pace. */
  #burst(): void {
    const world = this.#world;
    const id = world.pick([...this.#books.keys()]);
    const everyMs = world.pick([10, 10, 25, 100, 300, 2_000, 60_000]);
    const requests = world.between(1, this.#isSolo ? 400 : everyMs < 1_000 ? 80 : 3);
    const isolates = world.random() < 0.5 ? [world.pick(this.#isolates)] : this.#isolates;
    const query = () => this.#query(id);
    if (this.#isSolo) {
      this.#inTurn(query(), requests, everyMs);
      return;
    }
    const [address, permission] = [world.pick(ADDRESSES), world.pick(PERMISSIONS)];
    const isMixed = world.random() < 0.2;
    const hash = this.#hash(id);
    for (let n = 0; n < requests; n++) {
      const isolate = world.pick(isolates);
      // Most use the newest secret that they know.
      const asked = isMixed ? query() : { id, hash: world.random() < 0.5 ? hash : this.#hash(id), address, permission };
      world.after(n * everyMs, () => ask(this.#place, isolate, asked));
    }
  }

  /** Sends each request after the answer to the one before. */
  #inTurn(query: Query, requests: number, everyMs: number): void {
    const [isolate] = this.#isolates;
    if (requests === 0 || !isolate) return;
    const next = () => this.#inTurn(query, requests - 1, everyMs);
    this.#world.after(everyMs, () => ask(this.#place, isolate, query, next));
  }

  #query(id: string): Query {
    const world = this.#world;
    return { id, hash: this.#hash(id), address: world.pick(ADDRESSES), permission: world.pick(PERMISSIONS) };
  }

  /** A secret of a key: mostly the newest, else one that it has or had. */
  #hash(id: string): string {
    const rows = this.#books.get(id)?.versions.rows ?? [];
    const row = this.#isSolo || this.#world.random() < 0.8 ? rows.at(-1) : this.#world.pick(rows);
    const isOld = !this.#isSolo && this.#world.random() < 0.2;
    return (isOld ? row?.previousHash : row?.hash) ?? row?.hash ?? "unknown";
  }

  #change(afterMs: number): void {
    const world = this.#world;
    const id = world.pick([...this.#books.keys()]);
    const operator = this.#operator;
    const change = pickAction(world, [
      [8, () => {}],
      [6, () => operator.patch(id)],
      [3, () => operator.rotate(id, world.pick([0, 0, 1, 2, 10]))],
      [0.4, () => operator.revoke(id)],
    ]);
    world.after(afterMs, change);
  }

  /** The operator deletes the organization while a busy client has units ahead. */
  #deleteOrganization(): void {
    const world = this.#world;
    const isolate = world.pick(this.#isolates);
    this.#stream(isolate, this.#query(world.pick([...this.#books.keys()])), 0, 3_000);
    world.after(world.between(1_000, 1_500), () => this.#operator.deleteOrganization());
  }

  /** A busy client pauses, and goes on about when the key's object settles; then a key is changed. */
  #settle(): void {
    const world = this.#world;
    const isolate = world.pick(this.#isolates);
    const query = this.#query(world.pick([...this.#books.keys()]));
    const goesOnAt = world.between(3_500, 6_000);
    this.#stream(isolate, query, 0, 1_500);
    this.#stream(isolate, query, goesOnAt, goesOnAt + 2_000);
    this.#change(goesOnAt + world.between(200, 1_500));
  }

  /** A busy client goes on with its secret after a rotation. */
  #endSecret(): void {
    const world = this.#world;
    const query = this.#query(world.pick([...this.#books.keys()]));
    this.#stream(world.pick(this.#isolates), query, 0, 4_000);
    world.after(world.between(500, 1_500), () => this.#operator.rotate(query.id, world.between(1, 2)));
  }

  /** Sends 12 requests a second, which leave units of each grant until its end. */
  #stream(isolate: Isolate, query: Query, fromMs: number, untilMs: number): void {
    for (let ms = fromMs; ms < untilMs; ms += 80) this.#world.after(ms, () => ask(this.#place, isolate, query));
  }

  #breakSomething(): void {
    const world = this.#world;
    const soon = () => world.between(0, world.pick([50, 500, 2_000]));
    for (const object of this.#objects.values()) {
      if (world.fault("instance lost", 0.15)) {
        const ms = soon();
        world.after(ms, () => object.lose());
        if (!this.#isSolo && world.random() < 0.5) {
          // A change begins while an isolate holds what the lost instance granted.
          this.#stream(world.pick(this.#isolates), this.#query(object.name), 0, ms + 1_000);
          this.#change(Math.max(0, ms + world.between(-60, 60)));
        }
      }
      if (world.fault("object's clock set back", 0.1)) {
        world.after(soon(), () => object.setClockBack(world.pick([0, world.between(1, OBJECT_SKEW_MS)])));
      }
    }
    for (const isolate of this.#isolates) {
      const { party } = isolate;
      if (world.fault("isolate lost", 0.05)) world.after(soon(), () => this.#lose(isolate));
      // An isolate that pauses while its clock is wrong uses a grant late: nothing could end it.
      const isAnyClockWrong = CLOCK_FAULTS.some((fault) => world.counts.has(fault));
      if (!isAnyClockWrong && world.fault("isolate paused", 0.1)) {
        world.after(soon(), () => party.pause(world.between(10, world.pick([700, 5_000]))));
      }
      if (world.counts.has("isolate paused")) continue;
      if (world.fault("isolate's clock steps", 0.15)) {
        const most = world.pick([500, 2_000, 60_000]);
        world.after(soon(), () => party.stepClock(world.between(-most, most)));
      }
      if (world.fault("isolate's clock stands still", 0.1)) {
        world.after(soon(), () => {
          party.stopClock();
          world.after(world.between(100, 20_000), () => party.startClock());
        });
      }
    }
    if (this.#directory.isDown) this.#directory.isDown = world.random() < 0.6;
    else this.#directory.isDown = world.fault("D1 down", 0.07);
  }

  #lose(isolate: Isolate): void {
    isolate.party.lose();
    isolate.env = this.#env(isolate.party);
  }

  #isolate(name: string, mostMs: number): Isolate {
    const party = new Party(this.#world, name);
    party.skewMs = this.#world.between(-mostMs, mostMs);
    return { party, env: this.#env(party) };
  }

  #fillDirectory(): void {
    const world = this.#world;
    const { database } = this.#directory;
    const at = EPOCH - DAY;
    database.query("insert into organizations (id, name, created_at) values (?, ?, ?)", [ORGANIZATION, "One", at]);
    const count = this.#isSolo ? 1 : world.pick([1, 1, 2]);
    for (const id of KEYS.slice(0, count)) {
      const row = {
        ...{
          id,
          organization_id: ORGANIZATION,
          name: id,
          hash: `hash of ${id}`,
          created_by: "operator",
          created_at: at,
        },
        permissions: JSON.stringify(PERMISSIONS),
        ip_allowlist: "[]",
        // Only these have units ahead that outlast the calls of a deletion.
        rate_limit: world.pick(this.#deletesAt === null ? LIMITS : [300, 1_000]),
        window_seconds: world.pick(WINDOWS),
        monthly_quota: world.pick(QUOTAS),
        expires_at: !this.#isSolo && world.random() < 0.1 ? world.now + world.between(1_000, 60_000) : null,
      };
      const columns = Object.keys(row);
      database.query(
        `insert into api_keys (${columns.join()}) values (${columns.map(() => "?").join()})`,
        Object.values(row),
      );
      const versions = new Versions(database, id);
      versions.update(Number.NEGATIVE_INFINITY);
      this.#books.set(id, new KeyBook(versions));
    }
    tables.written = () => {
      for (const { versions } of this.#books.values()) versions.update(world.now);
    };
  }

  /** The bindings, as the code of a place has them. */
  #env(party: Party): Env {
    const calls = this.#calls;
    const env = {
      DB: calls.d1(party, this.#directory),
      KEYS: calls.namespace(party, (name) => this.#key(name)),
      ORGANIZATIONS: calls.stub(party, {
        reportKey: (_organizationId: string, keyId: string, { admitted }: { admitted: number }) => {
          this.#reported.set(keyId, admitted);
        },
        deleteClosed: () => 0,
      }),
      KEY_SECRET: btoa("0".repeat(32)),
      ADMIN_TOKEN: btoa("0".repeat(32)),
    };
    return env as unknown as Env;
  }

  #key(name: string): SimulatedObject {
    const known = this.#objects.get(name);
    if (known) return known;
    const construct = (state: DurableObjectState, object: SimulatedObject) => {
      this.#books.get(name)?.woke(this.#world.now, object.clockChanges);
      return new this.#service.KeyObject(state, this.#env(object));
    };
    const key = new SimulatedObject(this.#world, name, construct, {
      called: (object, method, given) => this.#judge.called(object, method, given),
      committed: () => {},
      maxSkewMs: OBJECT_SKEW_MS,
    });
    this.#objects.set(name, key);
    return key;
  }
}
