/** The product's version; the same as in package.json, held by a test. */
export const VERSION = "0.1.0";
