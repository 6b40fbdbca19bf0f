/** Headers as lines. One that is not known any more is left out. */
export const headerText = (headers: Readonly<Record<string, string | null>>): string =>
  Object.entries(headers)
    .flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]))
    .join("\n");
