/** What this service uses of Node's module, which the runtime has too. */
declare module "node:crypto" {
  interface Hmac {
    update(text: string): Hmac;
    digest(encoding: "base64url"): string;
  }
  export function createHmac(algorithm: "sha256", key: Uint8Array): Hmac;
}
