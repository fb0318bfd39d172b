import { chatSteps } from "./chat-step-cases.ts";
import { listSteps } from "./list-step-cases.ts";
import { otherSteps } from "./other-step-cases.ts";
import type { StepPlace } from "./step-fixtures.ts";

/** How much is stored, or sent at once. */
export interface StepSizes {
  /** Messages of the longest chat. */
  messages: number;
  /** Events of a chat, chats of an organization, rows of the audit log. */
  many: number;
  /** Messages that a search examines, and their length. */
  searched: number;
  length: number;
  ownEvents: number;
  rules: number;
  /** The longest that a case of many steps is watched. */
  seconds: number;
}

/** What `npm run bench -- --steps` stores. */
export const FULL_STEPS: StepSizes = {
  messages: 1_000_000,
  many: 100_000,
  searched: 10_000,
  length: 4_000,
  ownEvents: 10_000,
  rules: 1_000,
  seconds: 15,
};

/** What a test stores. */
export const SMALL_STEPS: StepSizes = {
  messages: 2_000,
  many: 2_000,
  searched: 300,
  length: 4_000,
  ownEvents: 1_000,
  rules: 200,
  seconds: 2,
};

/** What is measured of a route or an alarm. */
export interface StepCase {
  /** The route, or the object's alarm. */
  name: string;
  data: string;
  /** Makes the data. @returns what runs on it, in a service that has started anew */
  make(place: StepPlace): Promise<(place: StepPlace) => Promise<unknown>>;
  /** Changes the data, so it runs once. */
  isOnce?: boolean;
  /** What the step may take, in ms, where that is more than 50. */
  allowed?: number;
}

/** All cases. @param sizes how much data they have */
export function stepCases(sizes: StepSizes): StepCase[] {
  return [...chatSteps(sizes), ...listSteps(sizes), ...otherSteps(sizes)];
}
