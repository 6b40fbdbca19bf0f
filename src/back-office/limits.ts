import { type Static, Type } from "typebox";
import {
  LIMIT_MAX,
  type LimitName,
  type LimitOverrides,
  maximumOf,
  type StoredLimit,
} from "../merchants/limits.ts";
import { describedAs, nullable } from "../platform/wire/schemas.ts";

const UsageOfLimitSchema = Type.Object(
  {
    used: nullable(
      Type.Integer(),
      "How much of the limit is used. A count ends at the higher of `maximum` and the default. Null if the limit does not count over the whole connection or merchant, but for one order, delivery or process.",
    ),
    maximum: Type.Integer({ description: "The value of the limit for this connection or merchant." }),
    default: Type.Integer({ description: "Its value where the operator has set none." }),
  },
  { title: "UsageOfLimit", description: "How much of a limit is used." },
);

type Limits<Name extends LimitName> = Readonly<Record<Name, StoredLimit>>;

const entriesOf = <Name extends LimitName>(limits: Limits<Name>) =>
  Object.entries<StoredLimit>(limits) as [Name, StoredLimit][]; // The list's own keys.

/** A member for each limit. */
const forEachLimit = <Name extends LimitName, Value>(
  limits: Limits<Name>,
  make: (limit: StoredLimit, name: Name) => Value,
) =>
  Object.fromEntries(entriesOf(limits).map(([name, limit]) => [name, make(limit, name)])) as Record<
    Name,
    Value
  >; // All names.

const textOf = ({ description, standard }: StoredLimit): string =>
  `${description} Null: the default, ${standard}.`;

/**
 * The limits of a connection or of a merchant on the wire, with the requests that change them and what is used of them.
 * @param owner begins the titles, such as `Connection`
 */
export function limitSchemas<Name extends LimitName>(limits: Limits<Name>, owner: "Connection" | "Merchant") {
  const description = `Limits on what the ${owner.toLowerCase()} can have, where they differ from the defaults. The operator changes them.`;
  return {
    LimitsSchema: Type.Object(
      forEachLimit(limits, (limit) => nullable(Type.Integer(), textOf(limit))),
      { title: `${owner}Limits`, description },
    ),
    LimitsRequestSchema: Type.Object(
      forEachLimit(limits, (limit) =>
        Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: LIMIT_MAX }), textOf(limit))),
      ),
      { title: `${owner}LimitsUpdate`, description: `${description} Absent limits keep their values.` },
    ),
    UsageSchema: Type.Object(
      forEachLimit(limits, ({ description }) => describedAs(UsageOfLimitSchema, description)),
      { title: `${owner}Usage`, description: `What a ${owner.toLowerCase()} has, and how much it can have.` },
    ),
  };
}

/** The limits that the operator has changed, and null for the others. */
export const toWireLimits = <Name extends LimitName>(
  limits: Limits<Name>,
  overrides: LimitOverrides,
): Record<Name, number | null> => forEachLimit(limits, (_limit, name) => overrides[name] ?? null);

/** Counts what is used of a limit, at most so much. */
type Count = (countMax: number) => Promise<number>;

/**
 * How much of each limit is used.
 * @param counts null for a limit that does not count over the whole connection or merchant. No count reads more rows than the limit allows, or allowed before it was lowered
 */
export async function readUsageOf<Name extends LimitName>(
  limits: Limits<Name>,
  overrides: LimitOverrides,
  counts: Readonly<Record<Name, Count | null>>,
): Promise<Record<Name, Static<typeof UsageOfLimitSchema>>> {
  const usage = {} as Record<Name, Static<typeof UsageOfLimitSchema>>; // All names, after the loop.
  for (const [name, { standard }] of entriesOf(limits)) {
    const maximum = maximumOf(overrides, name);
    usage[name] = {
      used: (await counts[name]?.(Math.max(maximum, standard))) ?? null,
      maximum,
      default: standard,
    };
  }
  return usage;
}
