import { useState } from "preact/hooks";
import { Drawing, FAILURE, FILE } from "../drawing.tsx";
import { fetchLater } from "../fetch-later.ts";
import { sizeIn } from "../files/file-size.ts";
import { pictureBox } from "../files/picture.ts";
import type { FileKind, ShownFile } from "../files/shown-file.ts";
import { Outward } from "../outward.tsx";
import type { MessageTexts } from "./texts.ts";

/** The file of a message, or what its link names. */
export interface MediaView {
  /** The address that this page may load or open; null while there is none. */
  href: string | null;
  kind: FileKind;
  /** What is known of an uploaded file. */
  file: ShownFile | undefined;
}

interface MediaProps {
  media: MediaView;
  /** The type of the message. */
  type: string;
  /** What a picture says to those who don't see it. */
  alt: string;
  texts: MessageTexts;
  locale: string | undefined;
}

const KINDS = ["image", "audio", "video"] as const;

/** A picture, a player that loads nothing before it is used, or a link. */
export function MessageMedia({ media, type, alt, texts, locale }: MediaProps) {
  const { href, kind, file } = media;
  if (href === null) return file ? <FileName file={file} locale={locale} /> : null;
  if (kind === "picture") return <Picture href={href} alt={alt} file={file} texts={texts} />;
  // biome-ignore lint/a11y/useMediaCaption: nobody has written captions for it
  if (kind === "video") return <video class="player" src={href} controls preload="none" aria-label={file?.name} />;
  // biome-ignore lint/a11y/useMediaCaption: nobody has written captions for it
  if (kind === "audio") return <audio class="player" src={href} controls preload="none" aria-label={file?.name} />;
  if (file) {
    return (
      <Outward href={href} class="media">
        <FileName file={file} locale={locale} />
      </Outward>
    );
  }
  return (
    <p class="media">
      <Drawing path={FILE} />
      <Outward href={href}>{texts[KINDS.find((kind) => kind === type.toLowerCase()) ?? "document"]}</Outward>
    </p>
  );
}

interface PictureProps {
  href: string;
  alt: string;
  file: ShownFile | undefined;
  texts: MessageTexts;
}

/** A picture in a box of its size, so that nothing moves when it arrives or is gone. A tap shows it large. */
function Picture({ href, alt, file, texts }: PictureProps) {
  const [isGone, setGone] = useState(false);
  const box = pictureBox(file);
  const open = async () => {
    const { openLightbox } = await fetchLater();
    openLightbox({ href, alt, close: texts.close });
  };
  if (isGone) {
    return (
      <span class="picture gone" style={box}>
        <Drawing path={FAILURE} />
        <Outward href={href}>{texts.pictureGone}</Outward>
      </span>
    );
  }
  return (
    <button type="button" class="picture" aria-label={`${texts.image}: ${alt}`} onClick={() => void open()}>
      <img
        src={href}
        alt={alt}
        referrerpolicy="no-referrer"
        loading="lazy"
        decoding="async"
        style={box}
        onError={() => setGone(true)}
      />
    </button>
  );
}

/** What a file is called, what it is, and how large. */
function FileName({ file, locale }: { file: ShownFile; locale: string | undefined }) {
  const ending = /\.(\w{1,5})$/.exec(file.name)?.[1]?.toUpperCase();
  const size = file.size === null ? null : sizeIn(locale, file.size);
  return (
    <span class="file">
      <Drawing path={FILE} />
      <span>
        <bdi>{file.name}</bdi>
        <span class="description">{[ending, size].filter(Boolean).join(" · ")}</span>
      </span>
    </span>
  );
}
