import { type Static, Type } from "typebox";
import {
  LIMIT_MAX,
  LIMIT_NAMES,
  type LimitName,
  type LimitOverrides,
  STORED_LIMITS,
} from "../../../merchants/limits.ts";
import { describedAs, nullable } from "../../../platform/wire/schemas.ts";

/** A member for each limit. */
const forEachLimit = <Value>(make: (name: LimitName) => Value) =>
  Object.fromEntries(LIMIT_NAMES.map((name) => [name, make(name)])) as Record<LimitName, Value>; // All names.

const textOf = (name: LimitName): string =>
  `${STORED_LIMITS[name].description} Null: the default, ${STORED_LIMITS[name].standard}.`;

const LIMITS_TEXT =
  "Limits on what the connection can store, where they differ from the defaults. The operator changes them.";

export const LimitsSchema = Type.Object(
  forEachLimit((name) => nullable(Type.Integer(), textOf(name))),
  { title: "ConnectionLimits", description: LIMITS_TEXT },
);

export const LimitsRequestSchema = Type.Object(
  forEachLimit((name) =>
    Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: LIMIT_MAX }), textOf(name))),
  ),
  { title: "ConnectionLimitsUpdate", description: `${LIMITS_TEXT} Absent limits keep their values.` },
);

export const toWireLimits = (overrides: LimitOverrides): Static<typeof LimitsSchema> =>
  forEachLimit((name) => overrides[name] ?? null);

const UsageOfLimitSchema = Type.Object(
  {
    used: nullable(
      Type.Integer(),
      "How much of the limit is used. A count ends at the higher of `maximum` and the default. Null if the limit does not count over the whole connection, but for one order or delivery.",
    ),
    maximum: Type.Integer({ description: "The value of the limit for this connection." }),
  },
  { title: "UsageOfLimit", description: "How much of a limit is used." },
);

export const UsageSchema = Type.Object(
  forEachLimit((name) => describedAs(UsageOfLimitSchema, STORED_LIMITS[name].description)),
  { title: "ConnectionUsage", description: "What a connection has stored, and how much it can store." },
);
