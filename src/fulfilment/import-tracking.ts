import { type Static, Type } from "typebox";
import { orderScope, roleOnOrder } from "../audit/grant.ts";
import { applyTransition, asOf, isChange } from "../lifecycle/lifecycle.ts";
import type { Order, OrderKey, Shipment, ShipmentChange, Transition } from "../lifecycle/order.ts";
import { isOpen, LINES_MAX, shipmentsOut } from "../lifecycle/parts.ts";
import { routed } from "../lifecycle/possible-transitions.ts";
import type { Staff } from "../orders/changes/change-order.ts";
import {
  carrierField,
  type LineQuantity,
  readShipRequest,
  toShip,
  toShipmentUpdate,
  trackingNumberField,
  trackingUrlField,
  weightField,
} from "../orders/changes/ship-request.ts";
import { comparableNumber, trackingNumberOf } from "../orders/changes/tracking-number.ts";
import { transitionRefused } from "../orders/changes/transition-order.ts";
import { LABEL_COLUMNS } from "../orders/order-wire.ts";
import { readOrdersByKey } from "../orders/orders-sql.ts";
import {
  findOrderOfShipment,
  findOrderOwner,
  findOrdersByExternalId,
  type OpenParcel,
} from "../orders/owners-sql.ts";
import type { Queryable } from "../platform/database/database.ts";
import { fromTypeId, type IdPrefix, type NewId, toTypeId } from "../platform/ids.ts";
import { damageOf } from "../platform/tables/damage.ts";
import type { Columns } from "../platform/tables/header.ts";
import {
  asInFile,
  type FileFindings,
  ImportErrors,
  type ImportOptions,
  inBatches,
  namedRow,
  SeenValues,
  type TemporaryFile,
  type TypedRecord,
  validRows,
  withTemporaryFile,
} from "../platform/tables/import-file.ts";
import { columnOf, type FileRecord, type RowError, readTable } from "../platform/tables/read-table.ts";
import type { TableColumns } from "../platform/tables/write-table.ts";
import { UUID_MAX } from "../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../platform/wire/problems.ts";
import type { CodeMeaning } from "../platform/wire/rules.ts";
import { createCheck } from "../platform/wire/validation.ts";
import type { ImportContext } from "../products/import/import-products.ts";
import { readProductNames } from "../products/products-sql.ts";
import { findKnownTexts } from "./known-codes.ts";
import { findParcelsWithNumber, repeatedNumber } from "./repeated-numbers.ts";
import { type ShippingRequest, storeShipping } from "./shipping.ts";

const TRACKING_COLUMNS: Columns = {
  known: [
    "orderId",
    "externalOrderId",
    "connectionId",
    "shipmentId",
    "carrier",
    "trackingNumber",
    "trackingUrl",
    "weightGrams",
    "sku",
    "quantity",
  ],
  ignored: ["createdAt", ...LABEL_COLUMNS, "note"],
  identifiers: ["externalOrderId", "trackingNumber", "sku"],
  numbers: ["weightGrams", "quantity"],
  jsonLines: true,
};
/** The cells of a row about its parcel, which are empty in a file of the orders that wait. */
const PARCEL_COLUMNS = ["carrier", "trackingNumber", "trackingUrl", "weightGrams"] as const;

/** The orders of the work list, one a row, with cells for their parcels: an import reads the file when they are filled in. */
export const PARCELS_TO_FILL_IN: TableColumns = {
  columns: [
    "orderId",
    "externalOrderId",
    "carrier",
    "trackingNumber",
    "weightGrams",
    "createdAt",
    ...LABEL_COLUMNS,
    "note",
  ],
  numbers: ["weightGrams"],
};

/** Each parcel is a transaction, so that a file takes some minutes at most. */
export const TRACKING_ROWS_MAX = 10_000;
/** Parcels whose orders are read together. */
const BATCH_SIZE = 100;
/** Parcels that a response lists, of each kind. */
export const PARCELS_LISTED_MAX = 1_000;
/** Orders with one external id that are counted for an error. */
const SAME_ID_MAX = 20;

/** A row, with the fields of `POST /api/orders/{id}/ship` for a parcel. */
const RowSchema = Type.Object({
  orderId: Type.Optional(Type.String()),
  externalOrderId: Type.Optional(Type.String({ maxLength: 200, format: "text" })),
  connectionId: Type.Optional(Type.String()),
  shipmentId: Type.Optional(Type.String()),
  carrier: Type.Optional(carrierField()),
  trackingNumber: trackingNumberField(),
  trackingUrl: Type.Optional(trackingUrlField()),
  weightGrams: Type.Optional(weightField()),
  sku: Type.Optional(Type.String({ maxLength: 255, format: "text" })),
  quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
});
type Row = Static<typeof RowSchema>;
const check = createCheck(RowSchema);
const ID_COLUMNS = { orderId: "ord", connectionId: "con", shipmentId: "shp" } as const satisfies Record<
  string,
  IdPrefix
>;

/** How a row names an order: by shipment, order or external id, which agree if it has several. Ids are UUIDs. */
type NamedOrder = {
  readonly shipmentId: string | null;
  readonly orderId: string | null;
  readonly externalOrderId: string | null;
  readonly connectionId: string | null;
};

/** Units of a parcel. Null: all of the product that have not shipped. */
type ParcelLine = { readonly line: number; readonly sku: string; readonly quantity: number | null };

/** A parcel that has left: one row, or several that name its goods. */
type Parcel = {
  /** Of the first row. */
  readonly line: number;
  readonly named: NamedOrder;
  readonly trackingNumber: string;
  readonly carrier: string | null;
  readonly trackingUrl: string | null;
  readonly weightGrams: number | null;
  /** Empty: all that has not shipped. */
  readonly lines: readonly ParcelLine[];
};

export type TrackingImported = FileFindings & {
  readonly shipped: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rejected: number;
  /** Rows that were left out, because their orders have not left. */
  readonly untracked: number;
  /** The first parcels that shipped, or whose shipment was updated. */
  readonly parcels: readonly RecordedParcel[];
  /** The first parcels that were left out. */
  readonly rejections: readonly RejectedParcel[];
};
type RecordedParcel = {
  readonly line: number;
  readonly change: "shipped" | "updated";
  readonly orderId: string;
  readonly externalOrderId: string | null;
  /** As it is stored. */
  readonly trackingNumber: string | null;
  /** Null: a dry run ships nothing. */
  readonly shipmentId: string | null;
};
/** The problem is that of the route for one order, or has errors of the row. The order is named as in the file. */
export type RejectedParcel = { readonly line: number; readonly order: string; readonly problem: Problem };

type TrackingFile = ImportOptions & {
  readonly bytes: AsyncIterable<Buffer>;
  /** The connection of rows that name none. Null: any. */
  readonly connectionId: string | null;
  /** Numbers that are on other parcels are meant. */
  readonly repeatedTrackingNumber: boolean;
  /** Rows without anything about a parcel are left out, and are no errors. */
  readonly onlyTracked: boolean;
};

/**
 * Ships orders with the tracking of their parcels, and adds tracking to shipments (docs/design/fulfilment.md, "Imports of
 * tracking"). The file is checked as it arrives: with an error in it nothing is stored. Then the parcels are stored in batches. One
 * that its order forbids, or whose order is missing, is left out and reported. A parcel that is recorded already is unchanged, so
 * the same file completes an import that broke off.
 */
export async function importTracking(
  context: ImportContext,
  staff: Staff,
  file: TrackingFile,
): Promise<TrackingImported | Problem> {
  return withTemporaryFile<Parcel, TrackingImported | Problem>(
    context.config.dataDir,
    async (temporaryFile) => {
      const errors = new ImportErrors();
      const found = await checkTrackingFile(context, staff, { file, errors, temporaryFile });
      if (errors.isFinal) return errors.toProblem();
      const summary = new Summary();
      for await (const batch of temporaryFile.batches())
        await importBatch(context, staff, batch, file, summary);
      return { ...summary.imported, ...found, warnings: errors.warnings };
    },
  );
}

/** Decides without locks first, so that parcels that are recorded already cost one reading of many orders. */
async function importBatch(
  context: ImportContext,
  staff: Staff,
  batch: readonly Parcel[],
  file: Pick<TrackingFile, "dryRun" | "repeatedTrackingNumber">,
  summary: Summary,
): Promise<void> {
  const { db, clock, newId } = context;
  const { dryRun, repeatedTrackingNumber } = file;
  const found: { parcel: Parcel; key: OrderKey }[] = [];
  for (const parcel of batch) {
    const key = await findNamedOrder(db, staff, parcel, clock.now());
    if ("rule" in key) summary.reject(parcel, validationFailed([key]));
    else found.push({ parcel, key });
  }
  const keys = [...new Map(found.map(({ key }) => [key.id, key])).values()];
  const orders = new Map((await readOrdersByKey(db, keys)).map((order) => [order.id, order]));
  const skus = await readSkus(db, found, orders);
  const known = await findKnownTexts(
    db,
    found.map(({ parcel, key: { merchantId } }) => ({ ...parcel, merchantId })),
  );
  const stored = await findParcelsWithNumber(
    db,
    dryRun ? batch.map((parcel) => ({ ...parcel, repeatedTrackingNumber })) : [],
  );
  const storing = { ...context, db: context.storing };
  const requests: (ShippingRequest<null> & { readonly parcel: Parcel })[] = [];
  for (const [at, { parcel, key }] of found.entries()) {
    const order = orders.get(key.id);
    const other = order === undefined ? null : otherOrderNamed(parcel, order);
    if (order === undefined || other !== null) {
      summary.reject(parcel, other === null ? notFound("order") : validationFailed([other]));
      continue;
    }
    const decideOn = (current: Order) => decide(current, parcel, skus, clock.now(), newId);
    const decided = decideOn(order);
    // Only of a parcel that is not recorded yet: a partner may have called an order like its number since.
    const codes = decided === null ? [] : (known[at] ?? []);
    if (decided === null) summary.leave();
    else if (isProblem(decided)) summary.reject(parcel, decided);
    else if (codes.length > 0) summary.reject(parcel, rowRejected(...codes.map(knownCodeOf(parcel))));
    else if (dryRun) {
      const parcels = repeatedTrackingNumber ? [] : [...stored, ...summary.planned];
      const after = outcomeOf(staff, order, decided, clock.now(), parcels);
      if (isProblem(after)) summary.reject(parcel, after);
      else {
        summary.record(parcel, order, after, dryRun);
        orders.set(order.id, after); // What the next parcel of the order is compared with.
      }
    } else
      requests.push({
        ...{ context: storing, staff, key: order, decide: decideOn, parcel, repeatedTrackingNumber },
        trackingNumber: parcel.trackingNumber,
      });
  }
  const answers = await storeShipping(requests);
  for (const [at, { parcel, key }] of requests.entries()) {
    const after = answers[at] ?? null;
    const before = orders.get(key.id);
    if (after === null || before === undefined) summary.leave();
    else if (isProblem(after)) summary.reject(parcel, after);
    else {
      summary.record(parcel, before, after, dryRun);
      orders.set(after.id, after);
    }
  }
}

/** The order that a parcel names, if the caller sees it, or why there is none. Test orders have no parcels. */
async function findNamedOrder(
  db: Queryable,
  { grants }: Staff,
  { line, named }: Parcel,
  now: Date,
): Promise<OrderKey | RowError> {
  const { shipmentId, orderId, externalOrderId, connectionId } = named;
  if (shipmentId === null && orderId === null && externalOrderId !== null) {
    const filter = { externalOrderId, scope: orderScope(grants), connectionId };
    const page = { list: "", afterId: UUID_MAX, limit: SAME_ID_MAX };
    const real = (await findOrdersByExternalId(db, filter, page, now)).filter(({ testMode }) => !testMode);
    const [only] = real;
    const at = { line, column: "externalOrderId" };
    if (only === undefined) return { ...at, rule: "not_found", kind: "order" };
    return real.length === 1 ? only : { ...at, rule: "external_id_ambiguous", count: real.length };
  }
  const placed =
    shipmentId === null
      ? await findOrderOwner(db, orderId ?? "", now) // One of the two is required.
      : await findOrderOfShipment(db, shipmentId);
  const isSeen =
    placed !== null &&
    !placed.testMode &&
    roleOnOrder(grants, placed) !== null &&
    (connectionId === null || placed.connectionId === connectionId);
  if (isSeen) return placed;
  return shipmentId === null
    ? { line, column: "orderId", rule: "not_found", kind: "order" }
    : { line, column: "shipmentId", rule: "not_found", kind: "known_shipment" };
}

/** The error of a row that names another order beside the one that was found. */
function otherOrderNamed({ line, named }: Parcel, order: Order): RowError | null {
  if (named.orderId !== null && named.orderId !== order.id)
    return { line, column: "orderId", rule: "not_found", kind: "order" };
  return named.externalOrderId !== null && named.externalOrderId !== order.externalOrderId
    ? { line, column: "externalOrderId", rule: "not_found", kind: "order" }
    : null;
}

/** The SKUs of the products of orders, if a parcel names its goods. */
async function readSkus(
  db: Queryable,
  found: readonly { readonly parcel: Parcel; readonly key: OrderKey }[],
  orders: ReadonlyMap<string, Order>,
): Promise<ReadonlyMap<string, string>> {
  const naming = found.flatMap(({ parcel, key }) =>
    parcel.lines.length === 0 ? [] : (orders.get(key.id) ?? []),
  );
  const products = naming.flatMap(({ merchantId, lines }) =>
    lines.map(({ productId: id }) => ({ merchantId, id })),
  );
  return new Map([...(await readProductNames(db, products))].map(([id, { sku }]) => [id, sku]));
}

/**
 * What a parcel changes in an order (docs/design/fulfilment.md, "Imports of tracking"). Null: nothing, because it is recorded.
 * A shipment is recognized by its tracking number.
 */
function decide(
  order: Order,
  parcel: Parcel,
  skus: ReadonlyMap<string, string>,
  now: Date,
  newId: NewId,
): Transition | Problem | null {
  const { named, trackingNumber, carrier, trackingUrl, weightGrams } = parcel;
  const details = { ...(carrier !== null && { carrier }), ...(trackingUrl !== null && { trackingUrl }) };
  const update = (id: string, change: ShipmentChange) => {
    const transition = toShipmentUpdate(order, id, change);
    const outcome = applyTransition(order, transition, now);
    return outcome.outcome === "applied" && !isChange(outcome) ? null : transition;
  };
  if (named.shipmentId !== null) return update(named.shipmentId, { ...details, trackingNumber });
  const isRecorded = (shipment: Shipment) => hasNumberOf(parcel, shipment);
  const recorded = shipmentsOut(order).find(isRecorded);
  if (recorded !== undefined) return update(recorded.id, details);
  const earlier = order.shipments.find(isRecorded);
  if (earlier?.status === "voided")
    return rowRejected({ line: parcel.line, column: "trackingNumber", rule: "voided_shipment" });
  if (earlier !== undefined) return null; // It came back.
  const ship = (lines?: LineQuantity[]) => {
    const request = {
      ...details,
      trackingNumber,
      ...(weightGrams !== null && { weightGrams }),
      ...(lines && { lines }),
    };
    return toShip(order, readShipRequest(request), newId);
  };
  if (parcel.lines.length > 0) {
    const lines = linesOf(order, parcel, skus);
    return isProblem(lines) ? lines : ship(lines);
  }
  const untracked = shipmentsOut(order).filter((shipment) => shipment.trackingNumber === null);
  const [first] = untracked;
  if (first === undefined) return ship();
  const isAllShipped = !order.lines.some(isOpen);
  if (untracked.length === 1 && isAllShipped) return update(first.id, { ...details, trackingNumber });
  const shipmentIds = untracked.map(({ id }) => toTypeId("shp", id));
  return rowRejected({ line: parcel.line, column: "shipmentId", rule: "which_parcel", shipmentIds });
}

const knownCodeOf =
  ({ line }: Parcel) =>
  ({ field, knownAs }: { readonly field: string; readonly knownAs: CodeMeaning }): RowError => ({
    ...{ line, column: field },
    ...{ rule: "known_code", knownAs },
  });

const rowRejected = (...errors: RowError[]): Problem => validationFailed(errors);

const hasNumberOf = ({ trackingNumber, carrier }: Parcel, shipment: Shipment): boolean =>
  isSameNumber(shipment.trackingNumber, trackingNumberOf(trackingNumber, carrier ?? shipment.carrier));

/** As scans compare them. */
const isSameNumber = (stored: string | null, named: string): boolean =>
  stored?.toLowerCase() === named.toLowerCase();

/** The units of lines that a parcel contains: of each SKU those that have not shipped, in the order of the lines. */
function linesOf(order: Order, parcel: Parcel, skus: ReadonlyMap<string, string>): LineQuantity[] | Problem {
  const left = new Map(order.lines.map((line) => [line.id, isOpen(line) ? line.quantity : 0] as const));
  const taken = new Map<string, number>();
  const errors = parcel.lines.flatMap(({ line, sku, quantity }): RowError[] => {
    const own = order.lines.filter(({ productId }) => skus.get(productId) === sku);
    if (own.length === 0) return [{ line, column: "sku", rule: "not_found", kind: "order_sku" }];
    const max = own.reduce((sum, { id }) => sum + (left.get(id) ?? 0), 0);
    let wanted = quantity ?? max;
    if (wanted > max || max === 0)
      return [{ line, column: quantity === null ? "sku" : "quantity", rule: "unshipped_quantity", max }];
    for (const { id } of own) {
      const units = Math.min(wanted, left.get(id) ?? 0);
      if (units === 0) continue;
      wanted -= units;
      left.set(id, (left.get(id) ?? 0) - units);
      taken.set(id, (taken.get(id) ?? 0) + units);
    }
    return [];
  });
  return errors.length > 0
    ? rowRejected(...errors)
    : [...taken].map(([id, quantity]) => ({ lineId: toTypeId("line", id), quantity }));
}

/** What a dry run returns for a transition: the order after it. A request to ship an accepted order routes it first. */
function outcomeOf(
  staff: Staff,
  order: Order,
  transition: Transition,
  now: Date,
  parcels: readonly OpenParcel[],
): Order | Problem {
  const { name } = transition;
  const outcome = applyTransition(name === "ship" ? routed(asOf(order, now), now) : order, transition, now);
  const repeated = repeatedNumber(staff, name, order, outcome.order, parcels);
  if (repeated !== null) return repeated;
  return outcome.outcome === "applied" ? outcome.order : transitionRefused(name, outcome.order, outcome.rule);
}

/** Counts the parcels, and lists the first of those that are not recorded already. */
class Summary {
  readonly #counts = { shipped: 0, updated: 0, unchanged: 0, rejected: 0 };
  readonly #parcels: RecordedParcel[] = [];
  /** What a dry run would have on its way. */
  readonly planned: OpenParcel[] = [];
  readonly #rejections: RejectedParcel[] = [];

  record(parcel: Parcel, before: Order, after: Order, dryRun: boolean): void {
    const isShipped = after.shipments.length > before.shipments.length;
    const change = isShipped ? "shipped" : "updated";
    this.#counts[change] += 1;
    const written = shipmentsOut(after).find((shipment) => hasNumberOf(parcel, shipment));
    const { merchantId, connectionId, facilityId, id: orderId } = after;
    const trackingNumber = comparableNumber(written?.trackingNumber ?? "");
    if (dryRun && trackingNumber !== "")
      this.planned.push({ merchantId, connectionId, facilityId, orderId, shipmentId: null, trackingNumber });
    if (this.#parcels.length === PARCELS_LISTED_MAX) return;
    const isNew = isShipped && dryRun; // Its id is of no shipment.
    const shipmentId = isNew ? null : (parcel.named.shipmentId ?? written?.id ?? null);
    const { externalOrderId } = after;
    const named = { externalOrderId, trackingNumber: written?.trackingNumber ?? null };
    this.#parcels.push({ line: parcel.line, change, orderId: after.id, ...named, shipmentId });
  }

  leave(): void {
    this.#counts.unchanged += 1;
  }

  reject(parcel: Parcel, problem: Problem): void {
    this.#counts.rejected += 1;
    if (this.#rejections.length < PARCELS_LISTED_MAX)
      this.#rejections.push({ line: parcel.line, order: orderOf(parcel), problem });
  }

  get imported(): Omit<TrackingImported, "untracked" | keyof FileFindings> {
    const rejections = this.#rejections.toSorted((one, other) => one.line - other.line);
    return { ...this.#counts, parcels: this.#parcels, rejections };
  }
}

type CheckedFile = {
  readonly file: TrackingFile;
  readonly errors: ImportErrors;
  readonly temporaryFile: TemporaryFile<Parcel>;
};

/** Validates a file as it arrives. Parcels go to a temporary file as long as the file has no error. */
async function checkTrackingFile(
  { db, clock }: ImportContext,
  staff: Staff,
  { file: { bytes, connectionId, asWritten, onlyTracked }, errors, temporaryFile }: CheckedFile,
): Promise<Pick<TrackingImported, "recognised" | "untracked">> {
  const { records, recognised } = await readTable(bytes, TRACKING_COLUMNS, errors.report);
  const columns = TRACKING_COLUMNS;
  const named = ["orderId", "externalOrderId"];
  const options = { errors, asWritten, max: TRACKING_ROWS_MAX, named, columns };
  let untracked = 0;
  async function* ofParcels(): AsyncGenerator<FileRecord> {
    for await (const record of records)
      if (onlyTracked && isUntracked(record)) untracked += 1;
      else yield record;
  }
  const rows = validRows(ofParcels(), options, (record) => readRow(record, connectionId, asWritten));
  const seen = new SeenValues();
  for await (const batch of inBatches(parcelsOf(rows), BATCH_SIZE)) {
    for (const parcel of batch) {
      const { externalOrderId } = parcel.named;
      const about = namedRow({ externalOrderId, trackingNumber: parcel.trackingNumber }, orderOf(parcel));
      errors.add(parcelErrors(parcel, seen), about);
      const damage = asWritten || externalOrderId === null ? null : damageOf(externalOrderId);
      if (damage === null) continue;
      const found = await findNamedOrder(db, staff, parcel, clock.now());
      if ("rule" in found)
        errors.add([{ line: parcel.line, column: "externalOrderId", rule: "damaged", damage }], about);
    }
    if (!errors.isFinal) await temporaryFile.add(batch);
  }
  return { recognised, untracked };
}

const isUntracked = ({ values }: FileRecord): boolean =>
  PARCEL_COLUMNS.every((column) => (values[column] ?? "").trim() === "");

/** The order of a parcel, as a person finds it in the file. */
const orderOf = ({ named: { externalOrderId, orderId, shipmentId } }: Parcel): string =>
  externalOrderId ?? (orderId === null ? toTypeId("shp", shipmentId ?? "") : toTypeId("ord", orderId));

/** Rows that follow each other and name goods of the same parcel are one. */
async function* parcelsOf(rows: AsyncIterable<Parcel>): AsyncGenerator<Parcel> {
  let open = null as Parcel | null; // The compiler would take it for null in the loop.
  for await (const row of rows) {
    if (open !== null && isSameParcel(open, row)) open = { ...open, lines: [...open.lines, ...row.lines] };
    else {
      if (open !== null) yield open;
      open = row;
    }
  }
  if (open !== null) yield open;
}

function parcelErrors(parcel: Parcel, seen: SeenValues): RowError[] {
  const { line, lines } = parcel;
  const hasLines = lines.length > 0;
  const earlierHasLines = seen.add("parcel", keyOf(parcel), hasLines);
  // The goods of the later rows would be left out, because the shipment exists by then.
  const isUnclear = earlierHasLines !== null && (earlierHasLines || hasLines);
  return [
    ...(isUnclear
      ? [{ line, column: "trackingNumber", rule: "earlier_row", field: "trackingNumber" } as const]
      : []),
    ...(lines.length > LINES_MAX
      ? [{ line, column: "sku", rule: "max_items", max: LINES_MAX } as const]
      : []),
  ];
}

const keyOf = ({ named, trackingNumber }: Parcel): string =>
  JSON.stringify([named, trackingNumber.toLowerCase()]);

/** A row continues the parcel of the row before it if it repeats all of it, and both name goods or none. */
const isSameParcel = (open: Parcel, row: Parcel): boolean =>
  keyOf(open) === keyOf(row) &&
  open.carrier === row.carrier &&
  open.trackingUrl === row.trackingUrl &&
  open.weightGrams === row.weightGrams &&
  open.lines.length > 0 === row.lines.length > 0;

/** A row that is valid without regard to other rows, as a parcel, or its errors. */
function readRow(
  { line, typed, formulas }: TypedRecord,
  defaultConnectionId: string | null,
  asWritten: boolean,
): Parcel | { readonly errors: readonly RowError[] } {
  const invalid = check(typed).map(
    ({ pointer, ...violation }): RowError => ({ line, ...columnOf(pointer), ...asInFile(violation) }),
  );
  const row = typed as Row; // Valid as far as the check has found no error.
  const errors = [...invalid, ...namingErrors(line, row), ...goodsErrors(line, row)];
  const damage =
    row.trackingNumber === undefined || asWritten
      ? null
      : damageOf(row.trackingNumber, formulas.includes("trackingNumber"));
  if (damage !== null) errors.push({ line, column: "trackingNumber", rule: "damaged", damage });
  if (errors.length > 0) return { errors };
  const uuidOf = (column: keyof typeof ID_COLUMNS) =>
    row[column] === undefined ? null : fromTypeId(ID_COLUMNS[column], row[column]);
  const shipmentId = uuidOf("shipmentId");
  const orderId = uuidOf("orderId");
  const externalOrderId = row.externalOrderId ?? null;
  const connectionId = uuidOf("connectionId") ?? defaultConnectionId;
  return {
    line,
    named: { shipmentId, orderId, externalOrderId, connectionId },
    trackingNumber: row.trackingNumber.trim(),
    carrier: row.carrier ?? null,
    trackingUrl: row.trackingUrl ?? null,
    weightGrams: row.weightGrams ?? null,
    lines: row.sku === undefined ? [] : [{ line, sku: row.sku, quantity: row.quantity ?? null }],
  };
}

function namingErrors(line: number, row: Row): RowError[] {
  const ids = Object.entries(ID_COLUMNS) as [keyof typeof ID_COLUMNS, IdPrefix][]; // The record's own entries.
  const wrong = ids.flatMap(([column, prefix]): RowError[] =>
    row[column] === undefined || fromTypeId(prefix, row[column]) !== null
      ? []
      : [{ line, column, rule: "id_prefix", prefix: `${prefix}_` }],
  );
  const isNamed =
    row.orderId !== undefined || row.externalOrderId !== undefined || row.shipmentId !== undefined;
  const others = ["externalOrderId", "shipmentId"];
  return isNamed ? wrong : [...wrong, { line, column: "orderId", rule: "one_required", others }];
}

function goodsErrors(line: number, { shipmentId, sku, quantity }: Row): RowError[] {
  if (sku === undefined)
    return quantity === undefined ? [] : [{ line, column: "quantity", rule: "only_with", field: "sku" }];
  return shipmentId === undefined
    ? []
    : [{ line, column: "sku", rule: "not_combinable", field: "shipmentId" }];
}
