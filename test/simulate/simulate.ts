import { SimulatedChannel } from "./channel.ts";
import { SimulatedChat } from "./chat.ts";
import { DECISIONS, type Decisions } from "./decisions.ts";
import { SimulatedNetwork } from "./network.ts";
import { EPOCH, type Invariant, Violation, World } from "./world.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const OPERATIONS = 40;
const MAX_EVENTS = 200_000;
/** After this long all that waited for a pause has ended: back-off, network's rest, reserved start, a late status. */
const DRAINED_MS = 20 * MINUTE;
/** Two of the longest waits for a probe, of 48 minutes; a chat that was not woken by then has asked by itself. */
const BROKEN_MS = 2 * 60 * MINUTE;
/** One more wait, for the poisoned chat may be the probe. */
const POISONED_MS = 3 * 60 * MINUTE;

export interface Run {
  events: number;
  counts: ReadonlyMap<string, number>;
  checks: ReadonlyMap<Invariant, number>;
  violation: { invariant: Invariant; text: string } | null;
  /** What happened, line by line, where that was asked for. */
  trace: readonly string[];
}

/**
 * Delivers some chats' messages by the service's own decisions, while all goes wrong that this seed has. In `liveness`
 * the faults stop then, but for what stays broken, and everything must come to its end.
 */
export function simulate(
  seed: number,
  mode: "safety" | "liveness",
  { decisions = DECISIONS, isTraced = false }: { decisions?: Decisions; isTraced?: boolean } = {},
): Run {
  const world = new World(seed, isTraced);
  const run = (violation: Run["violation"]): Run => {
    const { events, counts, checks, trace } = world;
    return { events, counts, checks, violation, trace: trace ?? [] };
  };
  try {
    const network = new SimulatedNetwork(world);
    const channels = Array.from({ length: world.between(1, 2) }, () => new SimulatedChannel(world, decisions));
    const chats = Array.from(
      { length: world.between(1, 4) },
      (_, n) => new SimulatedChat(world, decisions, network, world.pick(channels), `chat ${n + 1}`),
    );
    for (let n = 0; n < OPERATIONS; n++) {
      operate(world, channels, chats);
      const pause = world.pick([0, 50, 500, 5_000, 60_000, 600_000]);
      world.run(world.now + world.between(0, pause), 1_000);
    }
    if (mode === "liveness") drain(world, channels, chats);
    for (const chat of chats) chat.judge.end(chat);
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return run({ invariant: error.invariant, text: error.message });
  }
  return run(null);
}

function operate(world: World, channels: SimulatedChannel[], chats: SimulatedChat[]): void {
  const chat = world.pick(chats);
  const channel = world.pick(channels);
  if (chat.rows.length < 12) for (let n = world.pick([0, 1, 1, 1, 4]); n > 0; n--) chat.send(world.pick([1, 1, 1, 2]));
  if (chat.isIdle ? world.fault("eviction of a chat", 0.3) : world.fault("crash while waiting", 0.2)) chat.lose();
  if (world.fault("eviction of a channel", 0.1)) channel.lose();
  if (channel.isBroken) channel.isBroken = world.random() > 0.15;
  else channel.isBroken = world.fault("channel broken", 0.1);
  chat.isPoisoned = chat.isPoisoned ? world.random() > 0.1 : world.fault("poisoned recipient", 0.05);
  if (world.fault("credentials changed", 0.05)) channel.renew();
  if (chat.rows.length > 0 && world.fault("redacted", 0.1)) {
    world.after(world.between(0, 400), () => chat.redact());
  }
}

/** @throws Violation where a message does not end in time */
function drain(world: World, channels: SimulatedChannel[], chats: SimulatedChat[]): void {
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
  for (const chat of chats) chat.send(1);
  if (staysDeaf || staysBroken || deaf?.isPoisoned) world.count("something stays broken");
  const isLeft = world.run(EPOCH + 400 * DAY, MAX_EVENTS);
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
    chat.judge.ended(chat);
  }
}
