/** The DNS says that there is no such name, or that it has no address. */
export class NoSuchNameError extends Error {
  constructor() {
    super("name has no address");
    this.name = "NoSuchNameError";
  }
}

/** The DNS did not say whether the name has an address. */
export class LookupFailedError extends Error {
  constructor() {
    super("lookup failed");
    this.name = "LookupFailedError";
  }
}
