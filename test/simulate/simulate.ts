import { SimulatedChannel } from "./channel.ts";
import { SimulatedChat } from "./chat.ts";
import { DECISIONS, type Decisions } from "./decisions.ts";
import { SimulatedNetwork } from "./network.ts";
import { EPOCH, FAULTS, type Invariant, Violation, World } from "./world.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const OPERATIONS = 40;
const MAX_EVENTS = 200_000;
/** After this long all that waited for a pause has ended: back-off, network's rest, reserved start, a late status. */
const DRAINED_MS = 20 * MINUTE;
/** Two of the longest waits for a probe, of 48 minutes; a chat that was not woken by then has asked by itself. */
const BROKEN_MS = 2 * 60 * MINUTE;
/**
 * A chat beside the poisoned one may lose each probe to it, as chance decides which of the two asks first. In 16 of the
 * longest waits that is one case in 65,536.
 */
const POISONED_MS = 16 * 48 * MINUTE;

export interface Run {
  events: number;
  counts: ReadonlyMap<string, number>;
  checks: ReadonlyMap<Invariant, number>;
  violation: { invariant: Invariant; text: string } | null;
  /** What happened, line by line, if it was asked for. */
  trace: readonly string[];
}

/**
 * Delivers the messages of a few chats with the service's own classes, while the faults of this seed happen. In
 * `liveness` the faults then stop, except for what stays broken, and every message must reach its end.
 */
export async function simulate(
  seed: number,
  mode: "safety" | "liveness",
  { decisions = DECISIONS, isTraced = false }: { decisions?: Decisions; isTraced?: boolean } = {},
): Promise<Run> {
  const world = new World(seed, FAULTS, isTraced);
  const run = (violation: Run["violation"]): Run => {
    const { events, counts, checks, trace } = world;
    return { events, counts, checks, violation, trace: trace ?? [] };
  };
  try {
    const network = new SimulatedNetwork(world);
    const channels = Array.from({ length: world.between(1, 2) }, (_, n) => {
      return new SimulatedChannel(world, decisions, `channel ${n + 1}`);
    });
    const chats = Array.from(
      { length: world.between(1, 4) },
      (_, n) => new SimulatedChat(world, decisions, network, world.pick(channels), `chat ${n + 1}`),
    );
    for (let n = 0; n < OPERATIONS; n++) {
      operate(world, channels, chats);
      const pause = world.pick([0, 50, 500, 5_000, 60_000, 600_000]);
      await world.run(world.now + world.between(0, pause), 1_000);
    }
    if (mode === "liveness") await drain(world, channels, chats);
    for (const chat of chats) chat.judge.end();
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return run({ invariant: error.invariant, text: error.message });
  }
  return run(null);
}

function operate(world: World, channels: SimulatedChannel[], chats: SimulatedChat[]): void {
  const chat = world.pick(chats);
  const channel = world.pick(channels);
  if (chat.rows.length < 12) {
    for (let n = world.pick([0, 1, 1, 1, 4]); n > 0; n--) send(world, chat, world.pick([1, 1, 1, 2]), expiry(world));
  }
  world.after(world.between(0, world.pick([0, 50, 500, 30_000])), () => {
    if (chat.isIdle ? world.fault("eviction of a chat", 0.3) : world.fault("crash while waiting", 0.2)) chat.lose();
  });
  if (world.fault("eviction of a channel", 0.1)) channel.lose();
  if (channel.isBroken) channel.isBroken = world.random() > 0.15;
  else channel.isBroken = world.fault("channel broken", 0.1);
  chat.isPoisoned = chat.isPoisoned ? world.random() > 0.1 : world.fault("poisoned recipient", 0.05);
  if (world.fault("credentials changed", 0.1)) {
    const isTold = world.random() < 0.7;
    world.after(world.between(0, 500), () => channel.renew(isTold));
  }
  if (chat.rows.length > 0 && world.random() < 0.15) {
    world.after(world.between(0, world.pick([0, 50, 500])), () => chat.cancel());
  }
  if (chat.rows.length > 0 && world.fault("redacted", 0.1)) {
    world.after(world.between(0, 400), () => chat.redact());
  }
}

/** After how many milliseconds a message expires; null for never. */
function expiry(world: World): number | null {
  const most = world.pick([null, null, 300, 3_000, 60_000, 600_000]);
  return most && world.between(1, most);
}

/** An object's code begins in an event. */
function send(world: World, chat: SimulatedChat, of: number, expiresAfterMs: number | null): void {
  world.after(0, () => chat.send(of, expiresAfterMs));
}

/** @throws Violation if a message does not end in time */
async function drain(world: World, channels: SimulatedChannel[], chats: SimulatedChat[]): Promise<void> {
  const since = world.now;
  world.isFaulty = false;
  for (const channel of channels) channel.isBroken = false;
  for (const chat of chats) chat.isPoisoned = false;
  const [deaf] = chats;
  const [dead] = channels;
  const staysDeaf = deaf && world.random() < 0.05;
  const staysBroken = dead && channels.length > 1 && world.random() < 0.05;
  if (staysDeaf) deaf.isDeaf = true;
  else if (deaf) deaf.isPoisoned = world.random() < 0.05;
  if (staysBroken) dead.isBroken = true;
  for (const chat of chats) send(world, chat, 1, null);
  if (staysDeaf || staysBroken || deaf?.isPoisoned) world.count("something stays broken");
  const isLeft = await world.run(EPOCH + 400 * DAY, MAX_EVENTS);
  world.check("ends", !isLeft, () => "it never comes to rest");
  for (const chat of chats) {
    const isSick = chat.isDeaf || chat.isPoisoned || chat.channel.isBroken;
    const isBesidePoison = chats.some((other) => other.isPoisoned && other.channel === chat.channel);
    const waitMs = isBesidePoison ? POISONED_MS : chat.channel.wasBroken ? BROKEN_MS : DRAINED_MS;
    const limit = isSick ? chat.rows.length * 8.5 * DAY : waitMs;
    for (const { seq } of chat.rows) {
      const took = (chat.judge.doneAt.get(seq) ?? Number.POSITIVE_INFINITY) - since;
      const text = () => `${chat.id} message ${seq} ended ${Math.round(took / 1_000)} s after the faults`;
      world.check("ends", took <= limit, text);
    }
    chat.judge.ended();
  }
}
