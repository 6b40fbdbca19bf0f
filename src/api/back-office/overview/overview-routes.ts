import { Type } from "typebox";
import { connectionScope, scopeWithin } from "../../../access/scope.ts";
import { readOrdersByDay } from "../../../orders/overview/orders-by-day.ts";
import { countHolds, countWaiting, readDurations } from "../../../orders/overview/overview-sql.ts";
import { uuidAt } from "../../../platform/ids.ts";
import { before, DAY_MS, HOUR_MS } from "../../../platform/time.ts";
import { validationFailed } from "../../../platform/wire/problems.ts";
import {
  countUnhealthyEndpoints,
  readDeliveryFigures,
} from "../../../webhooks/health/delivery-figures-sql.ts";
import { idErrors, idIn } from "../../http/id-parameters.ts";
import { andPartner, type BackOfficeRoute, merchantSide, route } from "../access.ts";
import { OverviewSchema, toWireOverview } from "./overview-wire.ts";

const DAYS_DEFAULT = 30;
const DAYS_MAX = 90;

/** The figures of the overview (decision 0139). They hold no personal data. */
export const overviewRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/overview",
    operationId: "getOverview",
    admits: andPartner(merchantSide),
    tag: "Overview",
    summary: "Get the figures of the overview",
    description:
      "Real orders of all connections that the caller sees: by day and status, how long they took, what is on hold, and what needs attention, each with the list behind it.",
    query: Type.Object({
      merchantId: Type.Optional(Type.String({ description: "Only this merchant." })),
      days: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: DAYS_MAX,
          default: DAYS_DEFAULT,
          description: "How many days are shown, with today.",
        }),
      ),
    }),
    responses: { 200: { description: "The figures.", schema: OverviewSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const { db, clock } = context;
      const now = clock.now();
      const merchantId = idIn("mer", query.merchantId);
      const scope = scopeWithin(connectionScope(caller.grants), merchantId);
      const days = query.days ?? DAYS_DEFAULT;
      // One after the other: an overview takes one connection of the pool, not all of them.
      const holds = await countHolds(db, scope);
      const waiting = await countWaiting(db, scope, before(now, HOUR_MS));
      const endpoints = await countUnhealthyEndpoints(db, scope);
      const deliveries = await readDeliveryFigures(db, scope, now);
      const durations = await readDurations(db, scope, uuidAt(before(now, days * DAY_MS)));
      const orders = await readOrdersByDay(db, scope, days, now);
      const figures = { holds, waiting, endpoints, deliveries, durations, orders, readAt: now };
      return { status: 200, body: toWireOverview(figures, merchantId) };
    },
  }),
];
