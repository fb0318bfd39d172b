import { Mistake } from "../support/mistake.ts";
import { exportWork } from "./export-work.ts";
import type { Place } from "./fixtures.ts";
import { listenerWork, quietWork } from "./listener-work.ts";
import { consoleWork, conversationWork } from "./page-work.ts";
import { replayWork } from "./replay-work.ts";
import { searchWork } from "./search-work.ts";
import { deletionWork, retentionWork } from "./stored-work.ts";
import { uploadWork } from "./upload-work.ts";
import type { WorkGround } from "./work-ground.ts";

/** Work that takes long, and how much of it. */
export interface WorkCase {
  name: string;
  /** How much, if nothing else is asked, and what that counts. */
  amount: number;
  unit: string;
  /** Sends beside it. */
  perSecond: number;
  /** The runtime's memory may grow by less than this many MB more than in another case, which is measured first. */
  growth?: { than: string; megabytes: number };
  /** Makes the data. */
  make(place: Place, amount: number): Promise<Work>;
}

/** What is done with the data, in a service that has started anew. */
export interface Work {
  /** The chats that get the sends, in turn, and a key that may send and list. */
  chatIds: string[];
  secret: string;
  /** What comes before all that is measured. */
  open?(ground: WorkGround): Promise<void>;
  /** Does the work, or stops when `ground.isOver()`. @returns how much was done; null if that can't be counted */
  run(ground: WorkGround): Promise<number | null>;
  /** Looks at what is there when the sends have ended. */
  check?(ground: WorkGround): Promise<void>;
}

export const WORK: readonly WorkCase[] = [
  retentionWork,
  deletionWork,
  exportWork,
  replayWork,
  searchWork,
  ...uploadWork,
  listenerWork,
  quietWork,
  consoleWork,
  conversationWork,
];

/** The cases whose names contain the text. @throws Mistake if there is none */
export function chosenWork(text: string): WorkCase[] {
  const chosen = WORK.filter(({ name }) => name.includes(text));
  if (chosen.length > 0) return chosen;
  throw new Mistake(`"${text}" names no work. There is: ${WORK.map(({ name }) => name).join("; ")}`);
}
