interface LongTest {
  /** One line for the list. */
  about: string;
  /** Loads the program, which reads its options from `process.argv` and sets the exit code. */
  run(): Promise<unknown>;
}

/** The tests that take minutes or hours, by the name that follows `npm run test:long --`. */
export const LONG_TESTS: Readonly<Record<string, LongTest>> = {
  simulate: {
    about: "the real objects on simulated storage, clocks and networks, with faults and kills",
    run: () => import("../simulate/main.ts"),
  },
  fuzz: {
    about: "random requests to all routes over real sockets",
    run: () => import("../deep/fuzz/main.ts"),
  },
  flood: {
    about: "forged keys, tokens and webhooks, and guessed ids, and what each costs",
    run: () => import("../deep/flood/main.ts"),
  },
  timing: {
    about: "whether the response time tells another's chat from one that does not exist",
    run: () => import("../wire/timing.ts"),
  },
  models: {
    about: "the real object of a key beside a plain model",
    run: () => import("../deep/models/main.ts"),
  },
  payloads: {
    about: "payloads of the networks, changed at random",
    run: () => import("./payloads.ts"),
  },
  search: {
    about: "what an index of messages costs, and how fast it finds",
    run: () => import("./search.ts"),
  },
  "index-steps": {
    about: "how much of the processor the longest steps of an index take",
    run: () => import("./index-steps.ts"),
  },
  day: {
    about: "three people in three browsers work at 200 chats over a weekend",
    run: () => import("./day.ts"),
  },
  storm: {
    about: "kills, pauses, bad connections and damaged files, against the running service",
    run: () => import("../deep/storm/main.ts"),
  },
  mutation: {
    about: "whether the unit tests notice small changes of the deciding modules",
    run: () => import("../mutation/main.ts"),
  },
};
