import { type Static, Type } from "typebox";
import { parseTime } from "../platform/time.ts";
import { nullableTime } from "../platform/wire/schemas.ts";

const OVERLAP_HOURS_DEFAULT = 24;
const OVERLAP_HOURS_MAX = 168;

/**
 * The fields of a request that replaces a key or a token without an interruption (docs/design/isolation-and-limits.md, "Keys").
 */
export const rotationFields = (of: "key" | "token") => ({
  overlapHours: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: OVERLAP_HOURS_MAX,
      default: OVERLAP_HOURS_DEFAULT,
      description: `Hours for which the old ${of} stays valid. 0 ends it at once, for example after a leak.`,
    }),
  ),
  expiresAt: Type.Optional(
    nullableTime(
      `When the new ${of} expires, in the future. Null: never. Default: after as long a time as the old one was given.`,
    ),
  ),
});

type RotationBody = {
  readonly [Field in keyof ReturnType<typeof rotationFields>]?:
    | Static<ReturnType<typeof rotationFields>[Field]>
    | undefined;
};

/** What the fields request. `expiresAt`: null: never; undefined: after as long a time as the old one was given. */
export const rotationOf = ({ overlapHours = OVERLAP_HOURS_DEFAULT, expiresAt }: RotationBody) => ({
  overlapHours,
  expiresAt: typeof expiresAt === "string" ? parseTime(expiresAt) : expiresAt,
});
