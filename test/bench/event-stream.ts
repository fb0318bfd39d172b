import { authorized } from "./request.ts";

/**
 * Follows the stream of an organization's new messages. A stream that ended goes on where it was: the service ends one
 * after 10,000 events or 5,000 calls of chats. Resolves when it is open.
 * @throws Error if the service refuses it
 */
export async function followStream(
  url: URL,
  secret: string,
  signal: AbortSignal,
  onFrame: (frame: string) => void,
): Promise<void> {
  let lastId: string | undefined;
  const open = async () => {
    const headers = { ...authorized(secret), ...(lastId !== undefined && { "Last-Event-ID": lastId }) };
    const response = await fetch(new URL("/api/v1/events/stream?types=message.created", url), { headers, signal });
    if (response.status !== 200) throw new Error(`a stream was answered ${response.status}`);
    return response;
  };
  const read = async ({ body }: Response) => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const bytes of body ?? []) {
      const frames = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
      text = frames.pop() ?? "";
      for (const frame of frames) {
        lastId = /^id: ?(.+)$/m.exec(frame)?.[1] ?? lastId;
        onFrame(frame);
      }
    }
  };
  const first = await open();
  const follow = async () => {
    await read(first);
    while (!signal.aborted) await read(await open());
  };
  // The end of the measurement ends it. What a stream that failed did not bring is missing in the end.
  void follow().catch(() => {});
}
