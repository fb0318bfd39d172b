/** The public key of a passkey, as a JSON Web Key. */
export type PublicKey = { kty: "EC"; crv: "P-256"; x: string; y: string } | { kty: "RSA"; n: string; e: string };
