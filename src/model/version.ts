/** The version of the service and of its commands: that of `package.json`. */
export const VERSION = "0.3.0";
