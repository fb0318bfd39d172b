import type { SimulatedObject } from "./object.ts";

const OPEN = 1;
const CLOSED = 3;

/** The platform's end of a socket, which outlives the instances of its object that sleep. */
export class SimulatedSocket {
  readyState = OPEN;
  #attachment: unknown;
  #object: SimulatedObject | null = null;

  acceptedBy(object: SimulatedObject): void {
    this.#object = object;
  }

  serializeAttachment(value: unknown): void {
    this.#attachment = structuredClone(value);
  }

  deserializeAttachment(): unknown {
    return structuredClone(this.#attachment);
  }

  /** A frame leaves the object after the writes before it are committed. */
  send(data: string): void {
    if (this.readyState !== OPEN) throw new TypeError("The socket is closed");
    this.#object?.frame(this, data);
  }

  close(): void {
    this.readyState = CLOSED;
  }

  get isOpen(): boolean {
    return this.readyState === OPEN;
  }
}

/** Both ends of a new socket. A page's end does nothing here: what it would get is judged where it leaves the object. */
export class WebSocketPair {
  readonly 0 = new SimulatedSocket();
  readonly 1 = new SimulatedSocket();
}
