import { useEffect, useState } from "preact/hooks";
import type { FileStage } from "./stage.ts";

/**
 * Draws again after each change of the stage, and stages the files that are dropped anywhere on the page.
 * @param isOn whether files are taken
 * @returns whether files are being dragged over the page
 */
export function useStage(stage: FileStage, isOn: boolean): boolean {
  const [isOver, setOver] = useState(false);
  const [, draw] = useState(0);

  useEffect(() => {
    stage.onChange = () => draw((count) => count + 1);
    return () => {
      stage.onChange = () => {};
    };
  }, [stage]);

  useEffect(() => {
    if (!isOn) return;
    const ended = new AbortController();
    const { signal } = ended;
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      // Without that, the browser opens the file in place of the page.
      event.preventDefault();
      setOver(true);
    };
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(false);
      stage.add(event.dataTransfer.files);
    };
    document.addEventListener("dragover", over, { signal });
    document.addEventListener("dragleave", ({ relatedTarget }) => relatedTarget === null && setOver(false), { signal });
    document.addEventListener("drop", drop, { signal });
    return () => ended.abort();
  }, [stage, isOn]);

  return isOver;
}
