/**
 * A part of many checks that take long: another part in each run, by the run's seed. What runs all of them is said where
 * this is used.
 * @param every of how many checks one is run
 * @param seed a natural number
 */
export function sampleOf<T>(all: readonly T[], every: number, seed: number): T[] {
  return all.filter((_, place) => place % every === seed % every);
}
