import type { ScannedOrder, ShipRequest } from "../../api/schema.d.ts";
import { commandOf, readScan, type Scan, withCode } from "../../ui/scan/read-scan.ts";

/** What a parcel may weigh here, in grams: a barcode that was scanned by mistake is more. */
const WEIGHT_MAX = 1_000_000;
/** A parcel that weighs more than its goods by this factor has something else in it. */
const HEAVY = 1.3;

/** What printed barcodes of commands mean, by their number. Numbers of papers that hang at tables do not change. */
export const COMMANDS = {
  undo: 1,
  "take-out": 2,
  missing: 3,
  damaged: 4,
  "close-parcel": 5,
  "put-aside": 6,
  print: 7,
  continue: 8,
} as const;
export type Command = keyof typeof COMMANDS;
/** The command `choose the first` has the number 11, and so on. */
export const CHOICE = 10;
export const CHOICES_MAX = 9;

export type PackedOrder = Pick<ScannedOrder, "orderId" | "externalOrderId" | "lines">;

/** What becomes of units that are not there. */
type Rest = "hold" | "cancel";

const ASIDE_REASONS = ["missing", "damaged", "packaging", "question", "other"] as const;
export type AsideReason = (typeof ASIDE_REASONS)[number];

/** What the table asks. A question has numbered answers, so that keys and printed barcodes give them too. */
export type Question =
  | { readonly about: "line"; readonly of: "missing" | "damaged" }
  | { readonly about: "missing" | "damaged"; readonly lineId: string }
  | { readonly about: "aside" }
  /** Its name is typed in a dialog. */
  | { readonly about: "carrier" }
  | { readonly about: "tracking"; readonly trackingNumber: string; readonly order: string };

/** Where a person at the table is. */
export type Packing =
  | { readonly step: "order" }
  | {
      readonly step: "items" | "weight" | "carrier" | "tracking";
      readonly order: ScannedOrder;
      /** Units of each line that are in the box. */
      readonly counts: Readonly<Record<string, number>>;
      /** Units of each line that are not there. */
      readonly missing: Readonly<Record<string, number>>;
      readonly rest: Rest;
      /** The person may cancel what is missing. */
      readonly mayCancel: boolean;
      /** How many units of each line were recorded as damaged. */
      readonly damaged: Readonly<Record<string, number>>;
      /** The next unit that is scanned is taken out, or is damaged. */
      readonly next: "put-in" | "take-out" | "damaged";
      readonly question: Question | null;
      /** Begins the references of what is recorded of it, so that a retry is no second record. */
      readonly reference: string;
      /** Parcels of the order that have left this table. */
      readonly parcels: number;
      readonly weightGrams: number | null;
      readonly carrier: string;
      /** An attempt to ship it got no response, so it may have shipped. */
      readonly wasSent: boolean;
    };
export type OpenPacking = Exclude<Packing, { step: "order" }>;

/** The outcome of a scan. The page has the words. */
export type Outcome =
  | {
      readonly outcome: "counted" | "taken-out";
      readonly name: string;
      readonly count: number;
      readonly of: number;
    }
  | { readonly outcome: "all-counted" | "weighed" | "carrier-chosen" | "empty" | "parcel-closed" }
  | { readonly outcome: "asked" | "carrier-asked" | "not-asked" | "marked-missing" }
  | { readonly outcome: "scan-to-take-out" | "scan-damaged" | "nothing-in-box" }
  | { readonly outcome: "light" | "heavy"; readonly expectedGrams: number }
  | CodeOutcome
  | { readonly outcome: "too-many" | "none-in-box"; readonly name: string; readonly of: number }
  | { readonly outcome: "ship"; readonly trackingNumber: string | null; readonly isConfirmed: boolean }
  /** What the page does with the service, or with the browser. */
  | { readonly outcome: "undo" | "print" }
  | { readonly outcome: "put-aside"; readonly reason: AsideReason }
  | { readonly outcome: "hold-rest" }
  | { readonly outcome: "record-damaged"; readonly lineId: string; readonly wasInBox: boolean };

/** The code has no meaning in this step. */
type CodeOutcome = {
  readonly outcome:
    | "wrong-item"
    | "not-a-weight"
    | "code-in-place-of-weight"
    | "not-a-carrier"
    | "not-tracking"
    | "this-order-is-open"
    | "order-is-open"
    | "not-in-step"
    | "not-an-answer";
  readonly code: string;
  /** A wrong keyboard layout can be why. */
  readonly isOtherLayout?: boolean;
};

export type Scanned<State extends Packing = Packing> = { readonly state: State; readonly outcome: Outcome };

type PackedLine = ScannedOrder["lines"][number];

/** The lines of which units have not shipped. */
export const linesToPack = ({ lines }: PackedOrder): PackedLine[] =>
  lines.filter(({ shipmentId, canceledQuantity }) => shipmentId === null && canceledQuantity === 0);

const countOf = ({ counts }: OpenPacking, { id }: PackedLine): number => counts[id] ?? 0;
const missingOf = ({ missing }: OpenPacking, { id }: PackedLine): number => missing[id] ?? 0;
/** Units of a line that are still to be found. */
export const openUnits = (state: OpenPacking, line: PackedLine): number =>
  line.quantity - countOf(state, line) - missingOf(state, line);

export const unitsInBox = ({ counts }: Pick<OpenPacking, "counts">): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
export const unitsMissing = ({ missing }: Pick<OpenPacking, "missing">): number =>
  Object.values(missing).reduce((sum, count) => sum + count, 0);

const isCounted = (state: OpenPacking): boolean =>
  linesToPack(state.order).every((line) => openUnits(state, line) === 0);

/** What counts for all parcels of an order at a table. */
type Kept = Pick<OpenPacking, "parcels" | "damaged" | "mayCancel" | "reference">;

export const openOrder = (
  order: ScannedOrder,
  carrier: string,
  { parcels, damaged, mayCancel, reference }: Kept,
): OpenPacking => ({
  ...{ parcels, damaged, mayCancel, reference },
  step: "items",
  order,
  counts: {},
  missing: {},
  rest: "hold",
  next: "put-in",
  question: null,
  weightGrams: null,
  carrier,
  wasSent: false,
});

/** The same order when a parcel of it has left: what was in the box is not any more. */
export const nextParcel = (order: ScannedOrder, before: OpenPacking): OpenPacking =>
  openOrder(order, before.carrier, { ...before, parcels: before.parcels + 1 });

/** The meaning of a scanned code while an order is open. */
export function applyScan(before: OpenPacking, scan: Scan): Scanned<OpenPacking> {
  const { state, outcome } = meaningOf(before, scan);
  const isNamed = scan.isOtherLayout && "code" in outcome;
  return { state, outcome: isNamed ? { ...outcome, isOtherLayout: true } : outcome };
}

function meaningOf(state: OpenPacking, scan: Scan): Scanned<OpenPacking> {
  const { code } = scan;
  const number = commandOf(code);
  if (number !== null) return applyNumber(state, number, code);
  if (code === "-1") return applyCommand(state, "take-out");
  if (code === state.order.orderId) return { state, outcome: { outcome: "this-order-is-open", code } };
  if (/^(ord|shp|pick)_[0-9a-z]{26}$/.test(code))
    return { state, outcome: { outcome: "order-is-open", code } };
  if (state.question !== null)
    return answer(state, state.question, /^\d{1,2}$/.test(code) ? Number(code) : null, code);
  if (state.next !== "put-in") return scanUnits(state, scan);
  switch (state.step) {
    case "items":
      return scanUnits(state, scan);
    case "weight":
      return unitTooMany(state, scan) ?? weigh(state, scan);
    case "carrier":
      return unitTooMany(state, scan) ?? chooseCarrier(state, scan);
    case "tracking":
      return unitTooMany(state, scan) ?? track(state, scan);
    default:
      return state.step satisfies never;
  }
}

/** Another unit of goods of which all are in: it is in the box as well, or in the hand. Null: the scan is none. */
function unitTooMany(state: OpenPacking, scan: Scan): Scanned<OpenPacking> | null {
  const named = withCode(linesToPack(state.order), scan);
  const [first] = named;
  const isFull = named.every((line) => countOf(state, line) === line.quantity);
  // A short code can also be what the parcel weighs, or the number of a carrier.
  if (first === undefined || !isFull || (state.step !== "tracking" && gramsOf(scan.code) !== null))
    return null;
  return { state, outcome: tooMany(named) };
}

const tooMany = (named: readonly PackedLine[]): Outcome => ({
  outcome: "too-many",
  name: named[0]?.name ?? "",
  of: named.reduce((sum, { quantity }) => sum + quantity, 0),
});

function applyNumber(state: OpenPacking, number: number, code: string): Scanned<OpenPacking> {
  const command = commandOfNumber(number);
  if (command !== null) return applyCommand(state, command);
  const at = number - CHOICE;
  if (state.question !== null) return answer(state, state.question, at, code);
  if (state.step === "carrier") return chooseCarrier(state, readScan(String(at)));
  return { state, outcome: { outcome: "not-in-step", code } };
}

const commandOfNumber = (number: number): Command | null =>
  (Object.keys(COMMANDS) as Command[]).find((name) => COMMANDS[name] === number) ?? null;

/** The meaning of a button, a key or a printed command. */
export function applyCommand(state: OpenPacking, command: Command): Scanned<OpenPacking> {
  const none = { ...state, question: null, next: "put-in" } as const;
  const ask = (question: Question): Scanned<OpenPacking> => ({
    state: { ...none, question },
    outcome: { outcome: "asked" },
  });
  switch (command) {
    case "undo":
      // A question, or what the next scan was to be, is given up first.
      if (state.question !== null || state.next !== "put-in")
        return { state: none, outcome: { outcome: "not-asked" } };
      return { state, outcome: { outcome: "undo" } };
    case "take-out":
      if (unitsInBox(state) === 0) return { state: none, outcome: { outcome: "nothing-in-box" } };
      // The step stays: given up, it continues where it was.
      return { state: { ...none, next: "take-out" }, outcome: { outcome: "scan-to-take-out" } };
    case "missing": {
      const [line, other] = linesToPack(state.order).filter((each) => openUnits(state, each) > 0);
      if (line === undefined) return { state: none, outcome: { outcome: "all-counted" } };
      return ask(
        other === undefined ? { about: "missing", lineId: line.id } : { about: "line", of: "missing" },
      );
    }
    case "damaged":
      return { state: { ...none, next: "damaged" }, outcome: { outcome: "scan-damaged" } };
    case "close-parcel":
      if (unitsInBox(state) === 0) return { state: none, outcome: { outcome: "nothing-in-box" } };
      if (state.step !== "items") return { state: none, outcome: { outcome: "parcel-closed" } };
      return { state: { ...none, step: "weight" }, outcome: { outcome: "parcel-closed" } };
    case "put-aside":
      return ask({ about: "aside" });
    case "print":
      return { state, outcome: { outcome: "print" } };
    case "continue":
      return applyScan(state, readScan(""));
    default:
      return command satisfies never;
  }
}

/** The answers of a question, in the order of their numbers. The page has their words, and adds one to go back. */
export function answersOf(state: OpenPacking, question: Question) {
  switch (question.about) {
    case "line":
      return linesToPack(state.order)
        .filter((line) => question.of === "damaged" || openUnits(state, line) > 0)
        .slice(0, CHOICES_MAX - 1)
        .map(({ id }) => ({ is: "line", lineId: id }) as const);
    case "missing":
      return state.mayCancel ? ([{ is: "hold" }, { is: "cancel" }] as const) : ([{ is: "hold" }] as const);
    case "damaged": {
      const isInBox = (state.counts[question.lineId] ?? 0) > 0;
      return isInBox
        ? ([{ is: "in-box" }, { is: "not-in-box" }] as const)
        : ([{ is: "not-in-box" }] as const);
    }
    case "aside":
      return ASIDE_REASONS.map((reason) => ({ is: "aside", reason }) as const);
    case "tracking":
      return [{ is: "ship" }] as const;
    case "carrier":
      return [];
    default:
      return question satisfies never;
  }
}
export type Answer = ReturnType<typeof answersOf>[number];

function answer(
  state: OpenPacking,
  question: Question,
  number: number | null,
  code: string,
): Scanned<OpenPacking> {
  const answers: readonly Answer[] = answersOf(state, question);
  const unasked = { ...state, question: null };
  if (number === answers.length + 1) return { state: unasked, outcome: { outcome: "not-asked" } };
  const chosen = number === null ? undefined : answers[number - 1];
  if (chosen === undefined) return { state, outcome: { outcome: "not-an-answer", code } };
  switch (chosen.is) {
    case "line":
      return {
        state: {
          ...state,
          question: { about: question.about === "line" ? question.of : "missing", lineId: chosen.lineId },
        },
        outcome: { outcome: "asked" },
      };
    case "hold":
    case "cancel":
      return markMissing(unasked, question.about === "missing" ? question.lineId : "", chosen.is);
    case "in-box":
    case "not-in-box": {
      const lineId = question.about === "damaged" ? question.lineId : "";
      return {
        state: unasked,
        outcome: { outcome: "record-damaged", lineId, wasInBox: chosen.is === "in-box" },
      };
    }
    case "aside":
      return { state: unasked, outcome: { outcome: "put-aside", reason: chosen.reason } };
    case "ship": {
      const trackingNumber = question.about === "tracking" ? question.trackingNumber : null;
      return { state: unasked, outcome: { outcome: "ship", trackingNumber, isConfirmed: true } };
    }
    default:
      return chosen satisfies never;
  }
}

/** All units of a line that were not scanned are not there. What is complete then continues with the scale. */
function markMissing(state: OpenPacking, lineId: string, rest: Rest): Scanned<OpenPacking> {
  const line = linesToPack(state.order).find(({ id }) => id === lineId);
  if (line === undefined) return { state, outcome: { outcome: "empty" } };
  const missing = { ...state.missing, [lineId]: line.quantity - countOf(state, line) };
  const marked = { ...state, missing, rest };
  if (!isCounted(marked)) return { state: marked, outcome: { outcome: "marked-missing" } };
  if (unitsInBox(marked) === 0) return { state: marked, outcome: { outcome: "hold-rest" } };
  return { state: { ...marked, step: "weight" }, outcome: { outcome: "parcel-closed" } };
}

/** `3*4006381333931` is three times the code behind the star, `-1` takes the next one out, `-2*…` two of it. */
function readTimes({ lines }: PackedOrder, scan: Scan): { times: number; scan: Scan } {
  const [, times, code] = /^(-?\d{1,5})\*(.+)$/.exec(scan.code) ?? [];
  return times === undefined || code === undefined || withCode(lines, scan).length > 0
    ? { times: 1, scan }
    : { times: Number(times), scan: readScan(code) };
}

/** A unit that is put in, taken out, or found to be damaged. */
function scanUnits(state: OpenPacking, typed: Scan): Scanned<OpenPacking> {
  if (typed.code === "") return { state, outcome: { outcome: "empty" } };
  const { times, scan } = readTimes(state.order, typed);
  const named = withCode(linesToPack(state.order), scan);
  const [first] = named;
  if (first === undefined) {
    const outcome = isExternalId(state.order, scan) ? "this-order-is-open" : "wrong-item";
    return { state, outcome: { outcome, code: scan.code } };
  }
  if (state.next === "damaged")
    return {
      state: { ...state, next: "put-in", question: { about: "damaged", lineId: first.id } },
      outcome: { outcome: "asked" },
    };
  const out = times < 0 ? -times : state.next === "take-out" ? times : 0;
  if (out > 0) return takeOut(state, named, out);
  // Also of what was missing: it has been found.
  const roomOf = (line: PackedLine) => line.quantity - countOf(state, line);
  const room = named.reduce((sum, line) => sum + roomOf(line), 0);
  if (times === 0 || times > room) return { state, outcome: tooMany(named) };
  return countOver(
    state,
    named.filter((line) => roomOf(line) > 0),
    times,
  );
}

function takeOut(state: OpenPacking, named: readonly PackedLine[], units: number): Scanned<OpenPacking> {
  const inBox = named.filter((line) => countOf(state, line) > 0);
  const [line] = inBox.filter((each) => countOf(state, each) >= units);
  const [first] = named;
  if (line === undefined)
    return {
      state,
      outcome: {
        outcome: "none-in-box",
        name: first?.name ?? "",
        of: named.reduce((sum, each) => sum + countOf(state, each), 0),
      },
    };
  return countUnits({ ...state, next: "put-in" }, line.id, -units);
}

/** Counts units over lines of one product that are not complete, one line after the other. */
function countOver(
  state: OpenPacking,
  [line, ...others]: readonly PackedLine[],
  units: number,
): Scanned<OpenPacking> {
  if (line === undefined) return { state, outcome: { outcome: "empty" } };
  const inLine = Math.min(units, line.quantity - countOf(state, line));
  const counted = countUnits(state, line.id, inLine);
  return units > inLine ? countOver(counted.state, others, units - inLine) : counted;
}

/** Counts units of a line, scanned or by hand; negative to take them out. What is complete continues with the scale. */
export function countUnits(state: OpenPacking, lineId: string, units: number): Scanned<OpenPacking> {
  const line = linesToPack(state.order).find(({ id }) => id === lineId);
  if (line === undefined) return { state, outcome: { outcome: "empty" } };
  const count = Math.min(line.quantity, Math.max(0, countOf(state, line) + units));
  const counts = { ...state.counts, [lineId]: count };
  // What was found after all is not missing any more.
  const missing = { ...state.missing, [lineId]: Math.min(missingOf(state, line), line.quantity - count) };
  const counted = { ...state, counts, missing };
  if (units > 0 && isCounted(counted))
    return { state: { ...counted, step: "weight" }, outcome: { outcome: "all-counted" } };
  return {
    state: { ...counted, step: "items" },
    outcome: {
      outcome: units < 0 ? "taken-out" : "counted",
      name: line.name,
      count,
      of: line.quantity,
    },
  };
}

/** What the goods in the box weigh, without the box. Null if the weight of one is not known. */
export const goodsGrams = (state: OpenPacking): number | null =>
  linesToPack(state.order).reduce<number | null>((sum, line) => {
    const count = countOf(state, line);
    if (count === 0 || sum === null) return sum;
    return line.weightGrams === null ? null : sum + line.weightGrams * count;
  }, 0);

function weigh(state: OpenPacking, scan: Scan): Scanned<OpenPacking> {
  const { code: text } = scan;
  const next = { ...state, step: "carrier" } as const;
  if (text === "") return { state: { ...next, weightGrams: null }, outcome: { outcome: "weighed" } };
  const weightGrams = gramsOf(text);
  if (weightGrams === null) return { state, outcome: { outcome: "not-a-weight", code: text } };
  const expectedGrams = goodsGrams(state);
  if (isCodeOf(state.order, scan) || isOtherNumber(text, expectedGrams))
    return { state, outcome: { outcome: "code-in-place-of-weight", code: text } };
  const outcome =
    expectedGrams === null || expectedGrams === 0
      ? "weighed"
      : weightGrams < expectedGrams
        ? "light"
        : weightGrams > expectedGrams * HEAVY
          ? "heavy"
          : "weighed";
  return {
    state: { ...next, weightGrams },
    outcome: outcome === "weighed" ? { outcome } : { outcome, expectedGrams: expectedGrams ?? 0 },
  };
}

/** What carriers take at most. */
const PARCEL_MAX = 70_000;
/** A heavy box for light goods. */
const LIGHT_PARCEL_MAX = 10_000;

/**
 * Digits alone that are far too many for the weight of a parcel, such as those of another order. With its unit it is one: goods can
 * weigh more than the catalog says.
 */
const isOtherNumber = (text: string, expectedGrams: number | null): boolean =>
  /^\d+$/.test(text) &&
  Number(text) > (expectedGrams ? Math.max(LIGHT_PARCEL_MAX, 10 * expectedGrams) : PARCEL_MAX);

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

const COMMON_CARRIERS = ["DHL", "UPS", "FedEx", "DPD", "GLS", "USPS", "Royal Mail"];

/** A number of a parcel that someone took for a carrier is no choice. */
const isCarrierName = (text: string): boolean => /\p{L}{2}/u.test(text) && !/\d{4}/.test(text);

/**
 * The carriers to choose from: that of the parcel before, those that the merchant's parcels had, and common ones. By their names,
 * so that a number which hands have learned stays that of its carrier.
 */
export function carriersOf({ carrier, order }: Pick<OpenPacking, "carrier" | "order">): readonly string[] {
  const names = [carrier, ...order.carriers, ...COMMON_CARRIERS].filter(isCarrierName);
  return names
    .filter((name, index) => names.findIndex((each) => each.toLowerCase() === name.toLowerCase()) === index)
    .slice(0, CHOICES_MAX - 1)
    .sort((one, other) => one.localeCompare(other));
}

/** By its number or its name in the list. An empty scan keeps the carrier of the parcel before. */
function chooseCarrier(state: OpenPacking, { code }: Scan): Scanned<OpenPacking> {
  const carriers = carriersOf(state);
  const number = /^\d$/.test(code) ? Number(code) : 0;
  if (number === carriers.length + 1)
    return { state: { ...state, question: { about: "carrier" } }, outcome: { outcome: "carrier-asked" } };
  const byNumber = carriers[number - 1];
  const byName = carriers.find((name) => name.toLowerCase() === code.toLowerCase());
  const carrier = code === "" ? state.carrier : (byNumber ?? byName);
  if (carrier === undefined) return { state, outcome: { outcome: "not-a-carrier", code } };
  return withCarrier(state, carrier);
}

/** A carrier that a person has chosen or typed. */
export const withCarrier = (state: OpenPacking, carrier: string): Scanned<OpenPacking> => ({
  state: { ...state, carrier, step: "tracking", question: null },
  outcome: { outcome: "carrier-chosen" },
});

/** True if a person may have typed it as the name of a carrier: not a code that a scanner read into the field. */
export const isNameOfCarrier = (state: OpenPacking, text: string): boolean =>
  isCarrierName(text) && !isCodeOf(state.order, readScan(text));

function track(state: OpenPacking, scan: Scan): Scanned<OpenPacking> {
  // A key, a name or a weight of the steps before is no number of a parcel.
  const isAnswer =
    /^\d$/.test(scan.code) ||
    [...carriersOf(state), state.carrier].some((name) => name.toLowerCase() === scan.code.toLowerCase()) ||
    (/g$/i.test(scan.code) && gramsOf(scan.code) !== null);
  if (scan.code !== "" && (isAnswer || isCodeOf(state.order, scan)))
    return { state, outcome: { outcome: "not-tracking", code: scan.code } };
  const trackingNumber = scan.code === "" ? null : scan.code;
  return { state, outcome: { outcome: "ship", trackingNumber, isConfirmed: false } };
}

/** Goods are often scanned once more by mistake, also many at once; that must become nothing else of the parcel. */
function isCodeOf(order: PackedOrder, typed: Scan): boolean {
  const { scan } = readTimes(order, typed);
  return typed.code !== "" && (isExternalId(order, scan) || withCode(order.lines, scan).length > 0);
}

const isExternalId = ({ externalOrderId }: PackedOrder, { code }: Scan): boolean =>
  code.toLowerCase() === externalOrderId?.toLowerCase();

// The parcel, and what the service has of the order by now.

/** What can have changed of an order that lies on the table. */
export type Part = "goods" | "address";

/** What the station says before a parcel leaves, in the place of shipping it. */
export type ChangeMessage =
  | { readonly outcome: "changed"; readonly order: ScannedOrder; readonly parts: readonly Part[] }
  | { readonly outcome: "cannot-ship"; readonly order: ScannedOrder }
  | { readonly outcome: "unknown-code"; readonly code: string };

export type Change = { readonly packing: Packing; readonly message: ChangeMessage };

/** True if units of the order are left for another parcel, or are missing. */
const isPart = (state: OpenPacking): boolean =>
  linesToPack(state.order).some((line) => countOf(state, line) < line.quantity);

/** The request that ships the goods in the box. They are named, so a line that was shipped or added since is not. */
export function parcelRequest(state: OpenPacking, trackingNumber: string | null): ShipRequest {
  const { weightGrams, carrier } = state;
  const inBox = linesToPack(state.order).filter((line) => countOf(state, line) > 0);
  const hasWholeLines = inBox.every((line) => countOf(state, line) === line.quantity);
  return {
    ...(hasWholeLines
      ? { lineIds: inBox.map(({ id }) => id) }
      : { lines: inBox.map((line) => ({ lineId: line.id, quantity: countOf(state, line) })) }),
    ...(weightGrams !== null && { weightGrams }),
    ...(carrier !== "" && { carrier }),
    ...(trackingNumber !== null && { trackingNumber }),
  };
}

/** The units of a slip that are in this box. Null: the slip is for all that is left. */
export const unitsOfParcel = (state: OpenPacking): OpenPacking["counts"] | null =>
  state.step !== "items" && isPart(state) ? state.counts : null;

/**
 * The shipment that an earlier attempt made although its response was lost. Null if there is none. A shipment of another
 * person differs in something, or was there before; without a lost response, every shipment is of another person.
 */
export function shipmentOfLostAttempt(
  { order, counts, wasSent }: OpenPacking,
  request: ShipRequest,
  now: ScannedOrder,
): string | null {
  if (!wasSent) return null;
  const made = now.shipments.find(
    ({ id, carrier, trackingNumber, scannedTrackingNumber, weightGrams }) =>
      order.shipments.every((before) => before.id !== id) &&
      carrier === (request.carrier ?? null) &&
      // The service takes the number out of what the barcode of a label says, and keeps that beside it.
      (scannedTrackingNumber ?? trackingNumber) === (request.trackingNumber ?? null) &&
      weightGrams === (request.weightGrams ?? null) &&
      hasCounted(now, id, counts),
  );
  return made?.id ?? null;
}

/** True if the shipment has all that was counted, and nothing else. */
function hasCounted(now: ScannedOrder, shipmentId: string, counts: OpenPacking["counts"]): boolean {
  const shipped = now.lines.filter((line) => line.shipmentId === shipmentId);
  const counted = Object.values(counts).filter((units) => units > 0);
  return shipped.length === counted.length && shipped.every(({ id, quantity }) => counts[id] === quantity);
}

/** What has changed since the order was read, and where packing continues. Null if nothing has. */
export function changeSince(state: OpenPacking, now: ScannedOrder | undefined): Change | null {
  const { order } = state;
  const none = { step: "order" } as const;
  if (now === undefined)
    return {
      packing: none,
      message: { outcome: "unknown-code", code: order.externalOrderId ?? order.orderId },
    };
  if (!now.canShip) return { packing: none, message: { outcome: "cannot-ship", order: now } };
  const parts = (["goods", "address"] as const).filter((part) => textOf[part](now) !== textOf[part](order));
  if (parts.length === 0) return null;
  // Units that are in the box may be those that have shipped, so all are counted again.
  const packing = parts.includes("goods") ? openOrder(now, state.carrier, state) : { ...state, order: now };
  return { packing, message: { outcome: "changed", order: now, parts } };
}

/** For comparing. */
export const textOf: Readonly<Record<Part, (order: ScannedOrder) => string>> = {
  goods: (order) => JSON.stringify(linesToPack(order).map(({ id, quantity }) => [id, quantity])),
  address: ({ shippingAddress }) => JSON.stringify(shippingAddress),
};
