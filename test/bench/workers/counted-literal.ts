import { countedWorker, counting } from "./counted-service.ts";
import literal, * as design from "./literal.ts";

export class Limiter extends counting(design.Limiter) {}

/** The literal design with what it does counted. */
export default countedWorker(literal);
