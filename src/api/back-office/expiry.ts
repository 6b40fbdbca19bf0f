import type { Context } from "../../platform/context.ts";
import { parseTime } from "../../platform/time.ts";
import type { ValidationError } from "../../platform/wire/problems.ts";
import { valueAt } from "./money/amounts.ts";

/** The error of `expiresAt` in a body, if it is a time that a key or a token cannot expire at. */
export function expiryErrors(body: unknown, { clock }: Context): ValidationError[] {
  const expiresAt = valueAt(body, "/expiresAt");
  if (typeof expiresAt !== "string") return []; // Absent or null, or an error of the schema.
  return parseTime(expiresAt) > clock.now()
    ? []
    : [{ pointer: "/expiresAt", detail: "must be in the future" }];
}
