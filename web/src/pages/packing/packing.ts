import type { ScannedOrder } from "../../api/schema.d.ts";

/** What a parcel may weigh here, in grams: a barcode that was scanned by mistake is more. */
const WEIGHT_MAX = 1_000_000;

export type PackedOrder = Pick<ScannedOrder, "orderId" | "externalOrderId" | "lines">;

/** Where a person at the table is. `counts` has the units of each line that are in the box. */
export type Packing =
  | { readonly step: "order" }
  | {
      readonly step: "items" | "weight" | "carrier" | "tracking";
      readonly order: ScannedOrder;
      readonly counts: Readonly<Record<string, number>>;
      readonly weightGrams: number | null;
      readonly carrier: string;
      /** An attempt to ship it got no response, so it may have shipped. */
      readonly wasSent: boolean;
    };
export type OpenPacking = Exclude<Packing, { step: "order" }>;

/** The outcome of a scan. The page has the words. */
export type Outcome =
  | { readonly outcome: "counted"; readonly name: string; readonly count: number; readonly of: number }
  | { readonly outcome: "all-counted" | "weighed" | "carrier-chosen" | "empty" }
  | { readonly outcome: "light"; readonly expectedGrams: number }
  | { readonly outcome: "wrong-item" | "not-a-weight" | "order-is-open"; readonly code: string }
  | { readonly outcome: "too-many"; readonly name: string; readonly of: number }
  | { readonly outcome: "code-in-place-of-weight" | "not-a-carrier" | "not-tracking"; readonly code: string }
  | { readonly outcome: "ship"; readonly trackingNumber: string | null };

export type Scanned<State extends Packing = Packing> = {
  readonly state: State;
  readonly outcome: Outcome;
};

type PackedLine = ScannedOrder["lines"][number];

/** The lines that this parcel gets: all that have not shipped. */
export const linesToPack = ({ lines }: PackedOrder): PackedLine[] =>
  lines.filter(({ shipmentId, canceledQuantity }) => shipmentId === null && canceledQuantity === 0);

const isCounted = (order: PackedOrder, counts: Readonly<Record<string, number>>): boolean =>
  linesToPack(order).every(({ id, quantity }) => counts[id] === quantity);

export const openOrder = (order: ScannedOrder, carrier: string): OpenPacking => ({
  step: "items",
  order,
  counts: {},
  weightGrams: null,
  carrier,
  wasSent: false,
});

/** The meaning of a scanned code while an order is open. */
export function applyScan(state: OpenPacking, code: string): Scanned<OpenPacking> {
  if (/^(ord|shp)_/.test(code)) return { state, outcome: { outcome: "order-is-open", code } };
  switch (state.step) {
    case "items":
      return countScanned(state, code);
    case "weight":
      return weigh(state, code);
    case "carrier":
      return chooseCarrier(state, code);
    case "tracking":
      return track(state, code);
    default:
      return state.step satisfies never;
  }
}

const hasCode =
  (code: string) =>
  ({ barcode, sku }: PackedLine): boolean =>
    barcode === code || sku === code;

/** `3*4006381333931` is three times the code behind the star, unless a product of the order has the whole text as its code. */
function readTimes({ lines }: PackedOrder, text: string): { times: number; code: string } {
  const [, times, code] = /^(\d{1,5})\*(.+)$/.exec(text) ?? [];
  return times === undefined || code === undefined || lines.some(hasCode(text))
    ? { times: 1, code: text }
    : { times: Number(times), code };
}

/** A barcode, else a SKU. */
function countScanned(state: OpenPacking, text: string): Scanned<OpenPacking> {
  if (text === "") return { state, outcome: { outcome: "empty" } };
  const { times: units, code } = readTimes(state.order, text);
  const lines = linesToPack(state.order);
  const byBarcode = lines.filter(({ barcode }) => barcode === code);
  const named = byBarcode.length > 0 ? byBarcode : lines.filter(({ sku }) => sku === code);
  const [first] = named;
  if (first === undefined) return { state, outcome: { outcome: "wrong-item", code } };
  const roomOf = ({ id, quantity }: PackedLine) => quantity - (state.counts[id] ?? 0);
  const room = named.reduce((sum, line) => sum + roomOf(line), 0);
  if (units === 0 || units > room) {
    const of = named.reduce((sum, { quantity }) => sum + quantity, 0);
    return { state, outcome: { outcome: "too-many", name: first.name, of } };
  }
  return countOver(
    state,
    named.filter((line) => roomOf(line) > 0),
    units,
  );
}

/** Counts units over lines of one product that are not complete, one line after the other. */
function countOver(
  state: OpenPacking,
  [line, ...others]: readonly PackedLine[],
  units: number,
): Scanned<OpenPacking> {
  if (line === undefined) return { state, outcome: { outcome: "empty" } };
  const inLine = Math.min(units, line.quantity - (state.counts[line.id] ?? 0));
  const counted = countUnits(state, line.id, inLine);
  return units > inLine ? countOver(counted.state, others, units - inLine) : counted;
}

/** Counts units of a line, scanned or by hand. What is complete continues with the scale. */
export function countUnits(state: OpenPacking, lineId: string, units: number): Scanned<OpenPacking> {
  const line = linesToPack(state.order).find(({ id }) => id === lineId);
  if (line === undefined) return { state, outcome: { outcome: "empty" } };
  const count = Math.min(line.quantity, Math.max(0, (state.counts[lineId] ?? 0) + units));
  const counts = { ...state.counts, [lineId]: count };
  if (isCounted(state.order, counts))
    return { state: { ...state, counts, step: "weight" }, outcome: { outcome: "all-counted" } };
  return {
    state: { ...state, counts, step: "items" },
    outcome: { outcome: "counted", name: line.name, count, of: line.quantity },
  };
}

function weigh(state: OpenPacking, text: string): Scanned<OpenPacking> {
  const next = { ...state, step: "carrier" } as const;
  if (text === "") return { state: { ...next, weightGrams: null }, outcome: { outcome: "weighed" } };
  const weightGrams = gramsOf(text);
  if (weightGrams === null) return { state, outcome: { outcome: "not-a-weight", code: text } };
  if (isCodeOf(state.order, text))
    return { state, outcome: { outcome: "code-in-place-of-weight", code: text } };
  const expectedGrams = state.order.expectedWeightGrams;
  const isLight = expectedGrams !== null && weightGrams < expectedGrams;
  return {
    state: { ...next, weightGrams },
    outcome: isLight ? { outcome: "light", expectedGrams } : { outcome: "weighed" },
  };
}

/**
 * `1250`, `1250 g`, `1.25 kg` or `1,25 kg`. Null for anything else, and for what no parcel weighs. Grams have no decimals
 * but `.0` and `.00`: 1.250 may mean a separator of thousands, or kilograms.
 */
export function gramsOf(text: string): number | null {
  const [, whole, decimals = "", unit = "g"] =
    /^(\d{1,7})(?:[.,](\d{1,3}))?\s*(g|kg)?$/i.exec(text.trim()) ?? [];
  const isKilograms = unit.toLowerCase() === "kg";
  if (whole === undefined || !(isKilograms || /^0{0,2}$/.test(decimals))) return null;
  const grams = isKilograms ? Math.round(Number(`${whole}.${decimals}`) * 1_000) : Number(whole);
  return grams >= 1 && grams <= WEIGHT_MAX ? grams : null;
}

/** An empty scan keeps the carrier of the parcel before. The name of a carrier has a letter; a barcode often has none. */
function chooseCarrier(state: OpenPacking, text: string): Scanned<OpenPacking> {
  if (text !== "" && (!/\p{L}/u.test(text) || isCodeOf(state.order, text)))
    return { state, outcome: { outcome: "not-a-carrier", code: text } };
  const carrier = text === "" ? state.carrier : text;
  return { state: { ...state, carrier, step: "tracking" }, outcome: { outcome: "carrier-chosen" } };
}

function track(state: OpenPacking, code: string): Scanned<OpenPacking> {
  if (isCodeOf(state.order, code)) return { state, outcome: { outcome: "not-tracking", code } };
  return { state, outcome: { outcome: "ship", trackingNumber: code === "" ? null : code } };
}

/** Goods are often scanned once more by mistake, also many at once; that must become nothing else of the parcel. */
function isCodeOf(order: PackedOrder, text: string): boolean {
  const { code } = readTimes(order, text);
  return text !== "" && (text === order.externalOrderId || order.lines.some(hasCode(code)));
}
