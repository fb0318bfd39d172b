/**
 * An authenticator with one credential, and the browser before it: makes the JSON that a page sends to the service. It
 * has its own small writers of CBOR and DER, so that it shares no mistake with what reads them.
 * @see https://www.w3.org/TR/webauthn-2/
 */

/** The part of the options that counts here. */
interface CreationOptions {
  challenge: string;
  rp: { id: string };
  user: { id: string };
}

interface RequestOptions {
  challenge: string;
  rpId: string;
}

/** What is not as it should be. By default, the page is on `https://<host>` and its person was verified. */
export interface Otherwise {
  type?: string;
  challenge?: string;
  origin?: string;
  crossOrigin?: boolean;
  host?: string;
  flags?: number;
  counter?: number;
  userHandle?: string | null;
  id?: string;
  /** Changes what is signed after it was signed. */
  altered?: boolean;
}

const PRESENT = 1;
const VERIFIED = 4;
const HAS_CREDENTIAL = 64;

const ALGORITHMS = {
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  RS256: {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 2_048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
} as const;

export type Algorithm = keyof typeof ALGORITHMS;

const encoder = new TextEncoder();

export class Authenticator {
  readonly #algorithm: Algorithm;
  readonly #keys: CryptoKeyPair;
  readonly #id = crypto.getRandomValues(new Uint8Array(32));
  #userHandle = "";
  /** The number of the last signature. An authenticator that stays at 0 counts none. */
  counter = 0;

  private constructor(algorithm: Algorithm, keys: CryptoKeyPair) {
    this.#algorithm = algorithm;
    this.#keys = keys;
  }

  static async make(algorithm: Algorithm = "ES256"): Promise<Authenticator> {
    const keys = await crypto.subtle.generateKey(ALGORITHMS[algorithm], true, ["sign", "verify"]);
    return new Authenticator(algorithm, keys as CryptoKeyPair);
  }

  /** In base64url. */
  get id(): string {
    return base64url(this.#id);
  }

  /** The bytes of its public key, in COSE. */
  async publicKey(): Promise<Uint8Array> {
    const jwk = (await crypto.subtle.exportKey("jwk", this.#keys.publicKey)) as JsonWebKey;
    const of = (text = "") => Uint8Array.fromBase64(text, { alphabet: "base64url" });
    if (this.#algorithm === "RS256") {
      return joined([0xa4, 1, 3, 3, 0x39, 1, 0], [0x20], byteString(of(jwk.n)), [0x21], byteString(of(jwk.e)));
    }
    return joined([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21], byteString(of(jwk.x)), [0x22], byteString(of(jwk.y)));
  }

  /** Makes its credential: a `RegistrationResponseJSON`. */
  async create(options: CreationOptions, otherwise: Otherwise = {}) {
    this.#userHandle = options.user.id;
    const host = otherwise.host ?? options.rp.id;
    const data = joined(
      await authenticatorData(host, HAS_CREDENTIAL, this.counter, otherwise),
      new Uint8Array(16),
      [0, this.#id.length],
      this.#id,
      await this.publicKey(),
    );
    const attestationObject = joined(
      [0xa3, ...text("fmt"), ...text("none"), ...text("attStmt"), 0xa0, ...text("authData")],
      byteString(data),
    );
    const clientDataJSON = clientData("webauthn.create", options.rp.id, options.challenge, otherwise);
    const response = { clientDataJSON: base64url(clientDataJSON), attestationObject: base64url(attestationObject) };
    return { id: this.id, rawId: this.id, type: "public-key", response, clientExtensionResults: {} };
  }

  /** Signs in with its credential: an `AuthenticationResponseJSON`. */
  async get(options: RequestOptions, otherwise: Otherwise = {}) {
    const data = await authenticatorData(otherwise.host ?? options.rpId, 0, this.counter, otherwise);
    const said = clientData("webauthn.get", options.rpId, options.challenge, otherwise);
    const signed = joined(data, new Uint8Array(await crypto.subtle.digest("SHA-256", said)));
    const signature = new Uint8Array(
      await crypto.subtle.sign(ALGORITHMS[this.#algorithm], this.#keys.privateKey, signed),
    );
    const id = otherwise.id ?? this.id;
    if (otherwise.altered) data[36] = (data[36] ?? 0) + 1;
    const response = {
      clientDataJSON: base64url(said),
      authenticatorData: base64url(data),
      signature: base64url(this.#algorithm === "ES256" ? der(signature) : signature),
      userHandle: otherwise.userHandle === undefined ? this.#userHandle : otherwise.userHandle,
    };
    return { id, rawId: id, type: "public-key", response, clientExtensionResults: {} };
  }
}

/** Bytes, or UTF-8 text, in base64url. */
export function base64url(of: Uint8Array | string): string {
  const bytes = typeof of === "string" ? encoder.encode(of) : of;
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** A signature of ES256 as authenticators write it: `raw` has its two numbers, each with 32 bytes. */
export function der(raw: Uint8Array): Uint8Array {
  const numbers = [raw.subarray(0, 32), raw.subarray(32)].map((number) => {
    const from = number.findIndex((byte) => byte !== 0);
    const digits = [...number.subarray(from)];
    const positive = (digits[0] ?? 0) >= 128 ? [0, ...digits] : digits;
    return [2, positive.length, ...positive];
  });
  const body = numbers.flat();
  return new Uint8Array([0x30, body.length, ...body]);
}

async function authenticatorData(
  host: string,
  flag: number,
  counter: number,
  otherwise: Otherwise,
): Promise<Uint8Array<ArrayBuffer>> {
  const hash = await crypto.subtle.digest("SHA-256", encoder.encode(host));
  const end = new DataView(new ArrayBuffer(5));
  end.setUint8(0, (otherwise.flags ?? PRESENT | VERIFIED) | flag);
  end.setUint32(1, otherwise.counter ?? counter);
  return joined(new Uint8Array(hash), new Uint8Array(end.buffer));
}

function clientData(
  type: string,
  host: string,
  challenge: string,
  { origin = `https://${host}`, crossOrigin = false, ...otherwise }: Otherwise,
): Uint8Array<ArrayBuffer> {
  const said = { type: otherwise.type ?? type, challenge: otherwise.challenge ?? challenge, origin, crossOrigin };
  return joined(encoder.encode(JSON.stringify(said)));
}

/** A short text in CBOR. */
function text(of: string): number[] {
  return [0x60 + of.length, ...encoder.encode(of)];
}

/** Bytes in CBOR. */
function byteString(bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  if (length < 24) return joined([0x40 + length], bytes);
  if (length < 256) return joined([0x58, length], bytes);
  return joined([0x59, length >> 8, length & 255], bytes);
}

function joined(...parts: (Uint8Array | number[])[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}
