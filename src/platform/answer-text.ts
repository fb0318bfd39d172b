declare const of: unique symbol;

/**
 * An object's answer as JSON. The runtime copies an answer that is an object part by part and gives it a function that
 * disposes of it, which takes 10 µs longer than a text.
 * @see https://developers.cloudflare.com/workers/runtime-apis/rpc/lifecycle/
 */
export type Text<Answer> = string & { readonly [of]?: Answer };

export function asText<Answer>(answer: Answer): Text<Answer> {
  return JSON.stringify(answer) as Text<Answer>;
}

/** The answer of an object that was asked for text. During a deploy, an older object answers without. */
export function fromText<Answer>(answer: Answer | Text<Answer>): Answer {
  return typeof answer === "string" ? (JSON.parse(answer) as Answer) : (answer as Answer);
}
