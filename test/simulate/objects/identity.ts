import type { ChatIdentity } from "../../../src/model/chat-answers.ts";
import type { SimulatedObject } from "./object.ts";

/** The identity that a chat's object stores. */
export function storedIdentity({ storage }: Pick<SimulatedObject, "storage">): ChatIdentity | undefined {
  return storage.get<ChatIdentity>("identity") ?? storage.get<ChatIdentity>("lean");
}
