const RANDOM_BYTES = 16;

/**
 * A name that no other request has: a second click, or a retry after a lost response, is the same request. The browser's
 * `randomUUID` exists only on pages with TLS, and a console inside of a company may have none.
 */
export const newReference = (place: string): string =>
  `${place}-${[...crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("")}`;
