import { countedWorker, counting } from "./counted-service.ts";
import literal, * as design from "./literal.ts";

export class Limiter extends counting(design.Limiter) {}

/** The literal design with counters. */
export default countedWorker(literal);
