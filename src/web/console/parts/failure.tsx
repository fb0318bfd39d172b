import type { JSX } from "preact";
import type { Failure } from "../api.ts";
import { WORDS } from "../words.ts";

/** Says why a request failed, with what the service's log has it under. */
export function FailureNotice({ failure, onRetry }: { failure: Failure; onRetry?: () => void }): JSX.Element {
  return (
    <div class="failure" role="alert">
      <p>{failure.text}</p>
      {failure.status > 0 && (
        <p class="quiet">
          {failure.status} <code>{failure.code}</code>
          {failure.requestId && (
            <>
              , request <code>{failure.requestId}</code>
            </>
          )}
        </p>
      )}
      {onRetry && (
        <button type="button" class="button" onClick={onRetry}>
          {WORDS.retry}
        </button>
      )}
    </div>
  );
}
