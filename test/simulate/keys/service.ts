/** What the simulation runs: the service's own code, bundled with simulated globals, networks and platform classes. */

export { isOutage } from "../../../src/db/client.ts";
export { admit } from "../../../src/keys/admit.ts";
export { hashOf, newKeyText } from "../../../src/keys/key-text.ts";
export { KeyObject } from "../../../src/keys/object/key-object.ts";
export { eraseOrganization } from "../../../src/management/erase.ts";
export { rotateKey } from "../../../src/management/key-rotation.ts";
export { patchKey, revokeKey } from "../../../src/management/keys.ts";
export { platform } from "../objects/globals.ts";
