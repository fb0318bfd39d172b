import type { UploadCall, UploadOutcome } from "./repeat-upload.ts";

/** Uploads a file. `fetch` can't tell how much was sent. @param headers say who uploads */
export function uploadFile(
  url: string,
  headers: Readonly<Record<string, string>>,
  { file, key, signal, onProgress }: UploadCall,
): Promise<UploadOutcome> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const lost = () => resolve({ outcome: "lost" });
    request.open("POST", `${url}?fileName=${encodeURIComponent(nameOf(file))}`);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.setRequestHeader("Content-Type", file.type || "application/octet-stream");
    request.setRequestHeader("Idempotency-Key", key);
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    request.addEventListener("load", () => resolve(outcomeOf(request)));
    for (const end of ["error", "timeout", "abort"]) request.addEventListener(end, lost);
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

function outcomeOf(request: XMLHttpRequest): UploadOutcome {
  const { status } = request;
  const body = parse(request.responseText);
  if (status === 201 && typeof body.media?.id === "string") return { outcome: "stored", mediaId: body.media.id };
  if (status >= 500 || status < 400) return { outcome: "lost" };
  const { code = "", message = body.error ?? "" } = body;
  const retryAfter = status === 429 ? Number(request.getResponseHeader("Retry-After")) : null;
  return { outcome: "refused", trouble: { code, message, retryAfter } };
}

interface Body {
  media?: { id?: unknown };
  code?: string;
  message?: string;
  error?: string;
}

function parse(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {};
  }
}

/** The file's name, as the service takes it. */
function nameOf({ name }: File): string {
  const plain = name.slice(-255).replace(/[/\\\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/gu, "_");
  return /^\s*$|^\.{1,2}$/.test(plain) ? "file" : plain;
}
