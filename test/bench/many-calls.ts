/** How many calls of one object a request of the cases `object-cases.ts` makes at once. */
export const CALLS = 50;
