import { timingSafeEqual } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

// What the Workers runtime has and Node has not; `Uint8Array`'s own base64 and hex come with a flag of Node's.
Object.assign(crypto.subtle, {
  timingSafeEqual: (one: ArrayBuffer | Uint8Array, other: ArrayBuffer | Uint8Array) =>
    timingSafeEqual(new Uint8Array(one), new Uint8Array(other)),
});

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
