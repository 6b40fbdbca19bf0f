/** An explanation of the service, and what it means in another language. `$1` is the first group of the pattern. */
export type Explanation = readonly [pattern: RegExp, text: string];

let known: readonly Explanation[] = [];

/** The language of the console has changed. */
export function setExplanations(explanations: readonly Explanation[]): void {
  known = explanations;
}

/**
 * What is wrong with a field or a line of a file, or why a change is not possible, in the person's language. The service
 * explains in English, for programs and people; an explanation that is not known here stays as it is.
 */
export function explained(detail: string): string {
  const found = known.find(([pattern]) => pattern.test(detail));
  return found === undefined ? detail : detail.replace(...found);
}
