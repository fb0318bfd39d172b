import { useMemo } from "preact/hooks";
import { piecesOf } from "../links.ts";
import { Outward } from "../outward.tsx";

/** A text with its links. They are found once, however often the conversation is drawn. */
export function Linked({ text }: { text: string }) {
  return useMemo(
    () => (
      <p class="text" dir="auto">
        {piecesOf(text).map((piece) =>
          piece.href === null ? piece.text : <Outward href={piece.href}>{piece.text}</Outward>,
        )}
      </p>
    ),
    [text],
  );
}
