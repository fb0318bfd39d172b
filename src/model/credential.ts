/** The format of a secret key, in the Worker's environment and in a `.dev.vars` file. */
export const SECRET_KEY = { form: /^[A-Za-z0-9+/]{43}=$/, rule: "32 bytes in base64" };
