const LOOK_EVERY_MS = 1_000;
/** A younger page is not loaded again: old and new files mix during a deploy, and a file may be missing forever. */
const MIN_AGE_MS = 60_000;

/** The fields for texts. A checkbox that says nothing else has the value "on". */
const FIELDS = "textarea, input:not([type=checkbox], [type=radio])";

/** Loads the page again once nothing is being written, chosen or uploaded. Drafts outlive it. */
function reloadWhenIdle(): void {
  if (performance.now() < MIN_AGE_MS || isInUse()) setTimeout(reloadWhenIdle, LOOK_EVERY_MS);
  else location.reload();
}

function isInUse(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(FIELDS);
  const isWritten = [...fields].some(({ value, defaultValue }) => value !== defaultValue);
  return isWritten || document.querySelector(".staged, progress, dialog[open]") !== null;
}

reloadWhenIdle();
