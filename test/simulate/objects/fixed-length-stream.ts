/** The platform's stream of a body whose length is known. Bytes are texts here: `whole` is all of it, once it has ended. */
export class SimulatedLengthStream {
  readonly readable: { whole: Promise<string> };
  readonly writable: LengthSink;

  constructor(size: number) {
    const { promise: whole, resolve, reject } = Promise.withResolvers<string>();
    whole.catch(() => {});
    let text = "";
    this.readable = { whole };
    this.writable = {
      getWriter: () => ({
        write: async (bytes) => {
          text += new TextDecoder().decode(bytes);
        },
        releaseLock: () => {},
      }),
      end: (error) => {
        const short = new TypeError("FixedLengthStream did not see all expected bytes before close().");
        const failure = error ?? (text.length < size ? short : null);
        if (failure === null) return resolve(text);
        reject(failure);
        throw failure;
      },
    };
  }
}

/** What is written to it can be read. */
export interface LengthSink {
  getWriter(): { write(bytes: Uint8Array): Promise<void>; releaseLock(): void };
  /** Nothing follows, or `error` broke it off. @throws what the reader gets too */
  end(error: Error | null): void;
}
