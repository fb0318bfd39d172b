import { useState } from "preact/hooks";
import { webAddress } from "../../shared/links.ts";
import { Outward } from "../../shared/outward.tsx";
import { pictureBox } from "../../shared/picture.ts";
import type { Texts } from "../locales/en.ts";
import type { ShownFile } from "../message-extras.ts";
import { fill } from "../texts.ts";
import type { Line } from "../timeline.ts";
import { Icon } from "./icons.tsx";
import { sizeIn, type Words } from "./words.ts";

interface MediaProps {
  message: Line["message"];
  own: boolean;
  words: Words;
}

const WORDS = { IMAGE: "image", DOCUMENT: "document", AUDIO: "audio", VIDEO: "video" } as const;
/** The file of a message, or what its link names: a picture, a player that loads nothing before it is used, or a link. */
export function MessageMedia({ message, own, words }: MediaProps) {
  const { texts } = words;
  const { file, mediaUrl, type, text } = message;
  const href = addressOf(mediaUrl, file !== undefined);
  if (href === null) return file ? <FileName file={file} words={words} /> : null;
  const kind = file?.kind ?? (type === "IMAGE" ? "picture" : "other");
  if (kind === "picture") {
    const from = own ? texts.you : (message.sender ?? texts.company);
    const hasCaption = text !== "" && text !== mediaUrl && text !== file?.name;
    const alt = hasCaption ? text : fill(texts.pictureFrom, { name: from });
    return <Picture href={href} alt={alt} file={file} texts={texts} />;
  }
  // biome-ignore lint/a11y/useMediaCaption: nobody has written captions for it
  if (kind === "video") return <video class="player" src={href} controls preload="none" aria-label={file?.name} />;
  // biome-ignore lint/a11y/useMediaCaption: nobody has written captions for it
  if (kind === "audio") return <audio class="player" src={href} controls preload="none" aria-label={file?.name} />;
  if (file) {
    return (
      <Outward href={href} class="media">
        <FileName file={file} words={words} />
      </Outward>
    );
  }
  return (
    <p class="media">
      <Icon name="file" />
      <Outward href={href}>{texts[type in WORDS ? WORDS[type as keyof typeof WORDS] : "document"]}</Outward>
    </p>
  );
}

interface PictureProps {
  href: string;
  alt: string;
  file: ShownFile | undefined;
  texts: Texts;
}

/** A picture in a box of its size, so that nothing moves when it arrives or is gone. A tap shows it large. */
function Picture({ href, alt, file, texts }: PictureProps) {
  const [isGone, setGone] = useState(false);
  const box = pictureBox(file);
  const open = async () => {
    const { openLightbox } = await import("../lightbox.ts");
    openLightbox({ href, alt, close: texts.close });
  };
  if (isGone) {
    return (
      <span class="picture gone" style={box}>
        <Icon name="notSent" />
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
function FileName({ file, words }: { file: ShownFile; words: Words }) {
  const ending = /\.(\w{1,5})$/.exec(file.name)?.[1]?.toUpperCase();
  const size = file.size === null ? null : sizeIn(words.locale, file.size);
  return (
    <span class="file">
      <Icon name="file" />
      <span>
        <bdi>{file.name}</bdi>
        <span class="description">{[ending, size].filter(Boolean).join(" · ")}</span>
      </span>
    </span>
  );
}

/** A linked address must be https. That of a file of ours is the service's own, or this page's while it is on its way. */
function addressOf(mediaUrl: string | null, isFile: boolean): string | null {
  if (!mediaUrl) return null;
  if (isFile && mediaUrl.startsWith("blob:")) return mediaUrl;
  return webAddress(mediaUrl, isFile ? undefined : ["https:"]);
}
