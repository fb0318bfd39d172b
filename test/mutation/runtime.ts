import { createHash, createHmac, KeyObject, timingSafeEqual } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, vi } from "vitest";

// What the Workers runtime has and Node has not; `Uint8Array`'s own base64 and hex come with a flag of Node's.
Object.assign(crypto.subtle, {
  timingSafeEqual: (one: ArrayBuffer | Uint8Array, other: ArrayBuffer | Uint8Array) =>
    timingSafeEqual(new Uint8Array(one), new Uint8Array(other)),
});

// Workers have these at once, and Node after a turn of the event loop: a test whose clock is stopped would wait forever.
const sign = crypto.subtle.sign.bind(crypto.subtle);
Object.assign(crypto.subtle, {
  digest: async (algorithm: string, data: ArrayBuffer | Uint8Array) =>
    buffer(createHash(algorithm.replace("-", "")).update(new Uint8Array(data)).digest()),
  sign: async (algorithm: "HMAC", key: CryptoKey, data: ArrayBuffer | Uint8Array) => {
    // It refuses a key of another algorithm.
    if (algorithm !== "HMAC" || key.algorithm.name !== "HMAC") return sign(algorithm, key, data);
    const { name } = (key.algorithm as unknown as { hash: { name: string } }).hash;
    const secret = KeyObject.from(key as never);
    return buffer(createHmac(name.replace("-", ""), secret).update(new Uint8Array(data)).digest());
  },
});

function buffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

class FixedLengthStream extends TransformStream<Uint8Array, Uint8Array> {
  constructor(length: number) {
    let left = length;
    super({
      transform(chunk, controller) {
        left -= chunk.byteLength;
        if (left < 0) throw new TypeError("More bytes than were announced");
        controller.enqueue(chunk);
      },
      flush() {
        if (left > 0) throw new TypeError("Fewer bytes than were announced");
      },
    });
  }
}
const scheduler = { wait };

Object.assign(globalThis, { FixedLengthStream, scheduler, Cloudflare: { compatibilityFlags: {} } });

// As `test/support/setup.ts` does: the next file runs in the same thread.
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
