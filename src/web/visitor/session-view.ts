import type { Trouble } from "../shared/files/repeat-upload.ts";
import type { FinalCode } from "./connection.ts";
import type { Conversation, Reacting } from "./conversation.ts";

/**
 * The state of the connection. `crowded`: the visitor has too many open pages, and this one waits. A number is a final
 * close code: the page no longer reconnects.
 */
export type LinkState = "connecting" | "online" | "offline" | "crowded" | FinalCode;

/** Everything that the interface shows. */
export interface SessionView {
  conversation: Conversation;
  link: LinkState;
  older: "idle" | "loading" | "failed";
  /**
   * The latest refusal to announce. `wait`: the message is sent again automatically. `reaction`: it was one to a
   * reaction, which nothing else shows.
   */
  notice: { kind: "trouble" | "wait" | "reaction"; trouble: Trouble } | null;
  unread: number;
  /** The company is writing: the person's name, or null if nobody is named. */
  typing: { name: string | null } | null;
  /** Whether the visitor may send files. */
  canUpload: boolean;
  /** What the server understands. */
  features: readonly string[];
  /** The visitor's reactions that the server has not confirmed. A null takes one back. */
  reacting: readonly Reacting[];
  /** The upload that is under way, or has just ended: how much of it was sent, from 0 to 1. */
  uploading: { id: string; name: string; share: number } | null;
  /** Why the service did not take what the visitor said of themselves, or null. */
  contactFault: string | null;
}
