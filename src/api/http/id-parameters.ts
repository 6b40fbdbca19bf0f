import { fromTypeId, type IdPrefix } from "../../platform/ids.ts";
import type { ValidationError } from "../../platform/wire/problems.ts";

/** The UUID in a filter of a query. Null if the filter is absent or not an id. */
export const idIn = (prefix: IdPrefix, text: string | undefined): string | null =>
  text === undefined ? null : fromTypeId(prefix, text);

/** The error of a filter that is not an id. */
export function idErrors<Name extends string>(
  prefix: IdPrefix,
  parameter: Name,
  query: { [name in Name]?: string },
): ValidationError[] {
  const fits = query[parameter] === undefined || idIn(prefix, query[parameter]) !== null;
  return fits ? [] : [{ parameter, detail: `must be an id that begins with ${prefix}_` }];
}
