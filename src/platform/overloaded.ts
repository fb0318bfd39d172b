/** Whether an object says that it has too many calls. @param error as `callObject` or a call of a stub throws it */
export function isOverloaded(error: unknown): boolean {
  const { overloaded, cause } = error as { overloaded?: boolean; cause?: { overloaded?: boolean } };
  return overloaded === true || cause?.overloaded === true;
}
