/**
 * The search part of an address as flat texts: `?status=NEW&onHold=true`. People read and share these addresses, so they
 * look like those of the API.
 */
export const parseSearch = (search: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(search));

export function stringifySearch(search: Record<string, unknown>): string {
  const kept = Object.entries(search).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  const text = new URLSearchParams(
    Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
  ).toString();
  return text === "" ? "" : `?${text}`;
}

type Reader<Value> = (text: string) => Value | undefined;

export const text: Reader<string> = (value) => (value === "" ? undefined : value);

export const flag: Reader<boolean> = (value) =>
  value === "true" ? true : value === "false" ? false : undefined;

export const oneOf =
  <const Value extends string>(values: readonly Value[]): Reader<Value> =>
  (value) =>
    values.find((each) => each === value);

type Readers = Readonly<Record<string, Reader<unknown>>>;
export type SearchOf<Given extends Readers> = {
  [Name in keyof Given]?: Given[Name] extends Reader<infer Value> ? Value | undefined : never;
};

/**
 * The typed search parameters of a route, for its `validateSearch`. What cannot be read is left out, and so is what the page
 * does not know: an old address, or one with the mark of a newsletter, still opens its page. The router adds what is returned
 * to what was given, so each name that is left out is returned as undefined. It then removes it from the address too.
 */
export const searchParams =
  <const Given extends Readers>(readers: Given) =>
  (search: Record<string, unknown>): SearchOf<Given> => {
    const read = Object.entries(search).map(([name, given]) => {
      const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
      return [name, given === undefined || given === null ? undefined : reader?.(String(given))];
    });
    return Object.fromEntries(read) as SearchOf<Given>; // Each name was read by its own reader.
  };
