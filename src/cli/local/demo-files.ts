import { crc32, deflateSync } from "node:zlib";
import * as z from "zod/mini";

/** A small file that is made here, so that the demo needs no assets. */
export interface DemoFile {
  name: string;
  contentType: string;
  bytes: Uint8Array<ArrayBuffer>;
}

const answer = z.object({ media: z.object({ id: z.string() }) });
const WIDTH = 480;
const HEIGHT = 360;

/** Uploads a file as a client or a visitor does. @returns what a message names. @throws Error */
export async function uploadDemoFile(url: string, secret: string, file: DemoFile): Promise<{ id: string }> {
  const response = await fetch(`${url}?fileName=${encodeURIComponent(file.name)}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${secret}`, "Content-Type": file.contentType },
    body: file.bytes,
  });
  const body: unknown = await response.json().catch(() => null);
  const read = answer.safeParse(body);
  if (response.ok && read.success) return read.data.media;
  throw new Error(`The upload of ${file.name} answered ${response.status}: ${JSON.stringify(body)}`);
}

/** A lamp on a table, in the evening. */
export function lampPicture(): DemoFile {
  const rows: Buffer[] = [];
  for (let y = 0; y < HEIGHT; y++) {
    const row = Buffer.alloc(1 + WIDTH * 3);
    for (let x = 0; x < WIDTH; x++) row.set(colorAt(x, y), 1 + x * 3);
    rows.push(row);
  }
  const size = Buffer.alloc(13);
  size.writeUInt32BE(WIDTH, 0);
  size.writeUInt32BE(HEIGHT, 4);
  // 8 bits of red, green and blue.
  size.set([8, 2], 8);
  const bytes = Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    pngChunk("IHDR", size),
    pngChunk("IDAT", deflateSync(Buffer.concat(rows), { level: 9 })),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
  return { name: "lamp.png", contentType: "image/png", bytes };
}

function colorAt(x: number, y: number): number[] {
  const center = Math.abs(x - 240);
  const isShade = y >= 90 && y < 180 && center < 45 + (y - 90) * 0.5;
  if (isShade) return [244, 190 - Math.floor(y / 4), 92];
  if (y >= 180 && y < 285 && center < 5) return [120, 92, 70];
  if (y >= 276 && y < 290 && center < 52) return [96, 72, 56];
  if (y >= 290) return [150, 108, 76];
  const glow = Math.max(0, 1 - Math.hypot(x - 240, y - 170) / 250);
  return [38 + 170 * glow, 48 + 118 * glow, 78 + 40 * glow].map(Math.floor);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, "latin1");
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), data.length + 8);
  return chunk;
}

/** A page that offers the lamp. */
export function offerDocument(): DemoFile {
  const lines = [
    "Offer 4711",
    "",
    "1 table lamp, oak          49.00 EUR",
    "Shipping to Portugal        0.00 EUR",
    "Total 49.00 EUR",
  ];
  const shown = lines.map((line, at) => `/F1 ${at === 0 ? 22 : 12} Tf (${line}) Tj T*`).join("\n");
  const content = `BT 26 TL 60 760 Td\n${shown}\nET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
  ];
  let text = "%PDF-1.4\n";
  const places: number[] = [];
  for (const [at, object] of objects.entries()) {
    places.push(text.length);
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
  }
  const table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  const end = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${end}`;
  return { name: "offer-4711.pdf", contentType: "application/pdf", bytes: Buffer.from(text, "latin1") };
}
