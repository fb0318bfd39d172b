/** The platform's stream of a body whose length is known. Bytes are texts here: `whole` is all of it, once it has ended. */
export class FixedLengthStream {
  readonly readable: { whole: Promise<string> };
  readonly writable: { getWriter(): object };

  constructor() {
    const { promise: whole, resolve, reject } = Promise.withResolvers<string>();
    whole.catch(() => {});
    let text = "";
    const writer = {
      write: async (bytes: Uint8Array) => {
        text += new TextDecoder().decode(bytes);
      },
      close: async () => resolve(text),
      abort: async (reason: unknown) => reject(reason),
    };
    this.readable = { whole };
    this.writable = { getWriter: () => writer };
  }
}
