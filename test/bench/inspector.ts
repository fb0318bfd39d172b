/** A connection to the inspector of one isolate. */
export interface Inspector {
  /**
   * Calls a method of the Chrome DevTools Protocol. Returns its result.
   * @throws Error if the inspector returns an error
   */
  call<T>(method: string, params?: object): Promise<T>;
  /** Ends the connection. The runtime ends the isolate's next one too if that is opened before this resolves. */
  close(): Promise<void>;
}

/** Connects to the isolate of a Worker, by the inspector's port. */
export async function openInspector(worker: string, port: number): Promise<Inspector> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as Record<string, string>[];
  const target = targets.find(({ title, id }) => `${title} ${id}`.endsWith(worker));
  if (!target?.webSocketDebuggerUrl) throw new Error(`The inspector does not know the Worker ${worker}`);
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  const calls = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  const closed = new Promise<void>((resolve) => socket.addEventListener("close", () => resolve()));
  const hungUp = () => new Error(`The inspector of ${worker} hung up`);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error(`No connection to the inspector of ${worker}`)));
  });
  void closed.then(() => {
    for (const { reject } of calls.values()) reject(hungUp());
  });
  socket.addEventListener("message", ({ data }) => {
    const { id, result, error } = JSON.parse(String(data));
    const call = calls.get(id);
    calls.delete(id);
    if (error) call?.reject(new Error(`The inspector of ${worker}: ${error.message}`));
    else call?.resolve(result as never);
  });
  let count = 0;
  return {
    call: (method, params = {}) =>
      new Promise((resolve, reject) => {
        if (socket.readyState !== WebSocket.OPEN) throw hungUp();
        const id = ++count;
        calls.set(id, { resolve, reject });
        socket.send(JSON.stringify({ id, method, params }));
      }),
    close: () => {
      socket.close();
      return closed;
    },
  };
}
