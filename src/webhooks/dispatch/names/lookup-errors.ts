/** The name does not exist, or has no address. */
export class NoSuchNameError extends Error {
  constructor() {
    super("name has no address");
    this.name = "NoSuchNameError";
  }
}

/** The DNS gave no definite response. */
export class LookupFailedError extends Error {
  constructor() {
    super("lookup failed");
    this.name = "LookupFailedError";
  }
}
