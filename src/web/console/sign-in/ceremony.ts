/** Asks the browser for passkeys. */
import { ParleyError } from "../../../client/error.ts";
import { base64url } from "../../shared/random-token.ts";

/** Options as the service writes them: bytes are in base64url. */
export interface PasskeyOptions {
  challenge: string;
}
export interface NewPasskeyOptions extends PasskeyOptions {
  user: { id: string };
  excludeCredentials: { id: string }[];
}

/** Signs a challenge with the passkey that the person chooses. @throws ParleyError with a text for the person */
export async function choosePasskey(given: PasskeyOptions): Promise<object> {
  const publicKey = { ...given, challenge: bytesOf(given.challenge) };
  const { id, response } = await chosen(navigator.credentials.get({ publicKey }));
  const { clientDataJSON, authenticatorData, signature, userHandle } = response as AuthenticatorAssertionResponse;
  return { id, response: textsOf({ clientDataJSON, authenticatorData, signature, userHandle }) };
}

/** Makes a passkey on the device that the person chooses. @throws ParleyError as `choosePasskey` */
export async function makePasskey(given: NewPasskeyOptions): Promise<object> {
  const publicKey = {
    ...given,
    challenge: bytesOf(given.challenge),
    user: { ...given.user, id: bytesOf(given.user.id) },
    excludeCredentials: given.excludeCredentials.map((known) => ({ ...known, id: bytesOf(known.id) })),
  } as unknown as PublicKeyCredentialCreationOptions;
  const { response } = await chosen(navigator.credentials.create({ publicKey }));
  const { clientDataJSON, attestationObject } = response as AuthenticatorAttestationResponse;
  return { response: textsOf({ clientDataJSON, attestationObject }) };
}

async function chosen(choice: Promise<Credential | null>): Promise<PublicKeyCredential> {
  return (choice as Promise<PublicKeyCredential>).catch((cause: Error) => {
    const isKnown = cause.name === "InvalidStateError";
    const none = `No passkey was chosen. If you have none for ${location.hostname}, sign in with a link.`;
    const text = isKnown ? "This device already has a passkey of yours." : none;
    throw new ParleyError(text, { status: null, code: "passkey_not_chosen", cause });
  });
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}

function textsOf(response: Record<string, ArrayBuffer | null>): object {
  return Object.fromEntries(
    Object.entries(response).map(([name, bytes]) => [name, bytes && base64url(new Uint8Array(bytes))]),
  );
}
