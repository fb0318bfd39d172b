import { createHash, createHmac } from "node:crypto";
import type { FilesPort } from "../../../src/channels/network/adapter.ts";
import type { ActOutcome, NetworkAct, Outgoing, PartOutcome } from "../../../src/model/network.ts";
import { SimulatedLengthStream } from "./fixed-length-stream.ts";
import { WebSocketPair } from "./sockets.ts";

/** A part as it goes to its network: the contents of all parts, and which one this is. */
export interface RenderedPart {
  outgoing: Outgoing;
  contents: unknown[];
  part: number;
  /** Opens the uploaded file that this part has; undefined if it has none. */
  open?: (() => ReturnType<FilesPort["open"]>) | undefined;
}

/** What the simulated globals ask. Each run replaces these functions. */
export const platform = {
  /** Unix milliseconds. */
  now: (): number => 0,
  /** From 0 to 1. */
  random: (): number => 0,
  /** Calls `run` after `ms`. @returns a function that cancels the call */
  timer: (_ms: number, _run: () => void): (() => void) => missing(),
  /** Sends a part of a message to a contact; the first is 0. @param _signal ends the attempt */
  send: (_messageId: string, _part: number, _signal: AbortSignal, _rendered?: RenderedPart): Promise<PartOutcome> =>
    missing(),
  /** Shows a contact what a client does. @param _signal ends the call */
  act: (_act: NetworkAct, _signal: AbortSignal): Promise<ActOutcome> => missing(),
  /** A channel as the directory has it. */
  channel: (_channelId: string): unknown => missing(),
  /** A line of the service's log. */
  log: (_line: unknown): void => {},
};

class SimulatedDate extends globalThis.Date {
  constructor(...given: [] | [string | number]) {
    if (given.length === 0) super(platform.now());
    else super(...given);
  }

  static override now(): number {
    return platform.now();
  }
}

const simulatedMath = Object.create(globalThis.Math, { random: { value: () => platform.random() } }) as Math;

const simulatedCrypto = {
  getRandomValues(bytes: Uint8Array): Uint8Array {
    return bytes.map((_, index) => {
      bytes[index] = Math.floor(platform.random() * 256);
      return bytes[index];
    });
  },
  randomUUID: () => `uuid-${platform.random()}`,
  subtle: {
    /** SHA-256. Node's own digest ends at a time that differs between runs. */
    digest: async (_name: string, bytes: Uint8Array) =>
      Uint8Array.from(createHash("sha256").update(bytes).digest()).buffer,
    importKey: async (_format: string, secret: Uint8Array) => secret,
    /** HMAC-SHA-256. */
    sign: async (_name: string, secret: Uint8Array, bytes: Uint8Array) =>
      Uint8Array.from(createHmac("sha256", secret).update(bytes).digest()).buffer,
  },
};

const scheduler = {
  wait: (ms: number) => new Promise<void>((resolve) => platform.timer(ms, resolve)),
};

const simulatedConsole = {
  log: (line: unknown) => platform.log(line),
  warn: (line: unknown) => platform.log(line),
  error: (line: unknown) => platform.log(line),
};

const setSimulatedTimer = (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
  platform.timer(ms, () => run(...given));
const clearSimulatedTimer = (cancel?: () => void) => cancel?.();

const cloudflare = { compatibilityFlags: { handle_cross_request_promise_resolution: true } };

// Node has these methods only from version 25 on, and before with a flag.
if (!("toBase64" in Uint8Array.prototype)) {
  Object.assign(Uint8Array.prototype, {
    toBase64(this: Uint8Array) {
      return Buffer.from(this).toString("base64");
    },
    toHex(this: Uint8Array) {
      return Buffer.from(this).toString("hex");
    },
  });
}

/** An answer with a socket: its ends are known already. */
class SimulatedResponse {}

class WebSocketRequestResponsePair {}

const webSocket = { OPEN: 1 };

function missing(): never {
  throw new Error("The simulation has not begun");
}

export {
  clearSimulatedTimer as clearTimeout,
  cloudflare as Cloudflare,
  SimulatedDate as Date,
  SimulatedLengthStream as FixedLengthStream,
  SimulatedResponse as Response,
  scheduler,
  setSimulatedTimer as setTimeout,
  simulatedConsole as console,
  simulatedCrypto as crypto,
  simulatedMath as Math,
  WebSocketPair,
  WebSocketRequestResponsePair,
  webSocket as WebSocket,
};
