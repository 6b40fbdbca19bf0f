import { type Static, Type } from "typebox";
import { type Facility, listFacilities } from "../fulfilment/facilities-sql.ts";
import { countHeldAt, countWaitingWork } from "../fulfilment/work-list-sql.ts";
import { countHolds, countWaiting } from "../orders/reading/overview-sql.ts";
import type { Queryable } from "../platform/database/database.ts";
import { toTypeId, uuidAt } from "../platform/ids.ts";
import { before, DAY_MS, HOUR_MS } from "../platform/time.ts";
import { UUID_MIN } from "../platform/wire/cursor.ts";
import { dateTime, nullable } from "../platform/wire/schemas.ts";
import { countOrdersMoved } from "../stock/stock-movements-sql.ts";
import { type BackOfficeRoute, facilitiesOf, route, warehouse } from "./access.ts";
import { AttentionSchema, attentionToOrders, LATE_MS, queriesOf } from "./overview.ts";

/** Each facility costs two statements. */
const FACILITIES_MAX = 50;

const count = (description: string) => Type.Integer({ minimum: 0, description });

const FacilityWorkSchema = Type.Object(
  {
    facilityId: nullable(Type.String(), "The facility. Null: orders that ship from no facility."),
    name: nullable(Type.String(), "Its name, set by the warehouse. Null: orders that ship from no facility."),
    toPack: count("Orders that can be shipped now. At most 1 000 count."),
    free: count("Those of them that are on no pick list."),
    oldest: nullable(
      Type.Object(
        {
          orderId: Type.String({ description: "The order." }),
          externalOrderId: nullable(Type.String(), "The partner's id of the order. Null if it has none."),
          createdAt: dateTime("When the order was created."),
        },
        { title: "OldestWork", description: "An order that waits to be packed." },
      ),
      "The order that has waited longest. Null if none can be shipped.",
    ),
    onHold: count("Orders of the facility that are on hold. At most 1 000 of a connection count."),
    shipped: count(
      "Orders of which goods left the facility in the last 24 hours. The newest 5 000 movements of stock count.",
    ),
    returned: count(
      "Orders of which goods came back and were restocked in the last 24 hours. The newest 5 000 movements of stock count.",
    ),
  },
  { title: "FacilityWork", description: "What waits at a facility, and what was done there." },
);

const WorkOverviewSchema = Type.Object(
  {
    attention: Type.Array(AttentionSchema, {
      description:
        "Orders that wait for a person before they reach a facility. Empty for callers of named facilities, who do not see such orders.",
    }),
    facilities: Type.Array(FacilityWorkSchema, {
      description: `The facilities that the caller sees, oldest first, ${FACILITIES_MAX} at most. Closed ones are left out if nothing waits there. If there are none, an entry without an id has the figures of all orders.`,
    }),
    readAt: dateTime("When the figures were read."),
  },
  { title: "WorkOverview", description: "What waits for the warehouse." },
);

/** The overview of the warehouse (docs/design/console.md, "Overview"). It holds no personal data. */
export const workOverviewRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/work-list/overview",
    operationId: "getWorkOverview",
    admits: warehouse,
    tag: "Work list",
    summary: "Get the figures of the warehouse",
    description:
      "For each facility: orders to pack, the oldest of them, orders on hold, and what was shipped and returned in the last 24 hours.",
    responses: { 200: { description: "The figures.", schema: WorkOverviewSchema } },
    problems: [],
    handle: async ({ caller }, { context: { db, clock } }) => {
      const now = clock.now();
      const ids = facilitiesOf(caller);
      const facilities = await readFacilities(db, await shownFacilities(db, ids), now);
      if (ids !== null)
        return { status: 200, body: { attention: [], facilities, readAt: now.toISOString() } };
      const elsewhere = await countWaitingWork(db, null, now);
      // Without facilities, orders are packed without being routed to one.
      const withoutFacility =
        elsewhere.toPack === 0 && facilities.length > 0 ? [] : [toWire(null, elsewhere, NOTHING)];
      const holds = await countHolds(db, null);
      const waiting = await countWaiting(db, null, {
        unrouted: before(now, HOUR_MS),
        late: before(now, LATE_MS),
        lateBefore: before(now, LATE_MS),
      });
      return {
        status: 200,
        body: {
          attention: attentionToOrders(holds, waiting, now, queriesOf(null)),
          facilities: [...facilities, ...withoutFacility],
          readAt: now.toISOString(),
        },
      };
    },
  }),
];

const NOTHING = { onHold: 0, shipped: 0, returned: 0 };

type FacilityWork = Static<typeof FacilityWorkSchema>;

/** Open ones come first, so that many closed ones leave none of them out. */
async function shownFacilities(db: Queryable, ids: readonly string[] | null): Promise<Facility[]> {
  const page = { list: "facilities", afterId: UUID_MIN, limit: FACILITIES_MAX };
  const open = await listFacilities(db, { ids, countryCode: null, closed: false }, page);
  const closed = await listFacilities(db, { ids, countryCode: null, closed: true }, page);
  return [...open, ...closed].slice(0, FACILITIES_MAX);
}

/** One after the other: an overview takes one connection of the pool, not all of them. */
async function readFacilities(
  db: Queryable,
  facilities: readonly Facility[],
  now: Date,
): Promise<FacilityWork[]> {
  const held = await countHeldAt(
    db,
    facilities.map(({ id }) => id),
  );
  const shown: FacilityWork[] = [];
  for (const facility of facilities) {
    const work = await countWaitingWork(db, facility.id, now);
    if (facility.closedAt !== null && work.toPack === 0) continue;
    const moved = await countOrdersMoved(db, facility.id, uuidAt(before(now, DAY_MS)));
    shown.push(toWire(facility, work, { onHold: held.get(facility.id) ?? 0, ...moved }));
  }
  return shown;
}

const toWire = (
  facility: Facility | null,
  { toPack, free, oldest }: Awaited<ReturnType<typeof countWaitingWork>>,
  figures: typeof NOTHING,
): FacilityWork => ({
  facilityId: facility === null ? null : toTypeId("fac", facility.id),
  name: facility?.name ?? null,
  toPack,
  free,
  oldest:
    oldest === null
      ? null
      : {
          orderId: toTypeId("ord", oldest.id),
          externalOrderId: oldest.externalOrderId,
          createdAt: oldest.createdAt.toISOString(),
        },
  ...figures,
});
