/** Makes a value at the first call. Tests that only read an organization share it: making one takes most of their time. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
