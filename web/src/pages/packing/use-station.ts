import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole, useMe } from "../../api/me.ts";
import { ApiProblem, isProblem, isUncertain } from "../../api/problem.ts";
import type {
  Scan as Found,
  PackingSlip,
  ScannedOrder,
  ShipRequest,
  ValidationError,
} from "../../api/schema.d.ts";
import { readStored, store } from "../../stored.ts";
import { lookUp } from "../../ui/scan/look-up.ts";
import { commandOf, readScan, type Scan } from "../../ui/scan/read-scan.ts";
import {
  type AsideReason,
  applyCommand,
  applyScan,
  type Change,
  type ChangeMessage,
  type Command,
  changeSince,
  countUnits,
  type Draft,
  draftOf,
  linesToPack,
  type OpenPacking,
  type Outcome,
  openOrder,
  type Packing,
  parcelRequest,
  resume,
  type Scanned,
  shipmentOfLostAttempt,
  unitsInBox,
  unitsMissing,
  unitsOfParcel,
  withCarrier,
} from "./packing.ts";
import { slipQuery } from "./queries.ts";

/** What the station says of the last scan. */
export type Message =
  | Exclude<Outcome, { outcome: "undo" | "print" | "put-aside" | "hold-rest" | "record-damaged" | "ship" }>
  | ChangeMessage
  | { readonly outcome: "opened" | "open-elsewhere" | "taken-elsewhere"; readonly order: ScannedOrder }
  | { readonly outcome: "continued"; readonly order: ScannedOrder; readonly units: number }
  | { readonly outcome: "not-an-order"; readonly scan: Scan; readonly found: Found }
  | { readonly outcome: "several-orders" | "no-order-is-open"; readonly code: string }
  | {
      readonly outcome: "shipped" | "parcel-shipped";
      readonly order: ScannedOrder;
      readonly shipmentId: string | null;
      readonly rest: RestOutcome | null;
    }
  | { readonly outcome: "rest-held"; readonly order: ScannedOrder; readonly rest: RestOutcome }
  | { readonly outcome: "is-aside"; readonly order: ScannedOrder; readonly reason: AsideReason }
  | { readonly outcome: "undone" | "nothing-to-undo" }
  | { readonly outcome: "recorded-damaged"; readonly name: string; readonly stock: StockOutcome }
  | { readonly outcome: "rejected"; readonly code: string; readonly error: ValidationError }
  | { readonly outcome: "failed"; readonly error: unknown; readonly dropped: number };

/** What became of the units that were not there. */
export type RestOutcome = {
  readonly units: number;
  readonly is: "held" | "canceled" | "heldInstead" | "failed";
  readonly stock: StockOutcome;
};
/** `kept`: units are reserved for orders, so the stock cannot be less. `none`: no stock is recorded. */
export type StockOutcome = "adjusted" | "kept" | "none";

export type Station = {
  readonly packing: Packing;
  readonly message: Message | null;
  readonly number: number;
  readonly isBusy: boolean;
  /** The slips to print, until they are printed. */
  readonly slip: PackingSlip | null;
  /** Orders that were begun at this table and are not open. */
  readonly drafts: readonly Draft[];
  scan(scan: Scan): void;
  command(command: Command): void;
  answer(number: number): void;
  count(lineId: string, units: number): void;
  ask(question: OpenPacking["question"]): void;
  chooseCarrier(carrier: string): void;
  /** Opens an order here, and closes it in the tab in which it is open. */
  openHere(orderId: string): void;
  print(orderId: string, shipmentId: string | null): void;
  isPrinted(): void;
};

const CARRIER = "carrier";
const UNDO_MAX = 50;

/**
 * The packing table. Scans are handled one after the other in their order, however fast they come: while one waits for
 * the service, those after it wait in line. What was counted is kept in the browser after each of them
 * (docs/design/console.md, "Packing table").
 *
 * @param first an order that was scanned on another page
 */
export function useStation({
  first,
  onPickList,
}: {
  readonly first: string | undefined;
  onPickList(pickListId: string): void;
}): Station {
  const queryClient = useQueryClient();
  const personId = useMe().personId ?? "";
  const mayCancel = useHasRole("operator");
  // What the next scan in line starts from; React's state is only what is drawn.
  const present = useRef<Packing>({ step: "order" });
  const past = useRef<OpenPacking[]>([]);
  /** The tracking number of an attempt that got no response. */
  const sent = useRef<string | null | undefined>(undefined);
  const [drawn, setDrawn] = useState<Pick<Station, "packing" | "message" | "number" | "isBusy" | "slip">>({
    ...{ packing: present.current, message: null, number: 0, isBusy: false, slip: null },
  });

  const tabs = useOtherTabs({
    openOrderId: () => (present.current.step === "order" ? null : present.current.order.orderId),
    onTaken: () => {
      const state = present.current;
      if (state.step === "order") return;
      line.dropWaiting();
      setPacking({ step: "order" });
      say({ outcome: "taken-elsewhere", order: state.order });
    },
  });

  const say = (message: Message) =>
    setDrawn((before) => ({ ...before, packing: present.current, message, number: before.number + 1 }));

  /** @param isAside what is left behind is continued only when its order is scanned */
  const setPacking = (packing: Packing, { isAside = false, isDone = false } = {}) => {
    const before = present.current;
    present.current = packing;
    if (
      before.step !== "order" &&
      (packing.step === "order" || packing.order.orderId !== before.order.orderId)
    ) {
      past.current = [];
      if (isDone) removeDraft(personId, before.order.orderId);
      else if (isAside)
        saveDraft(personId, draftOf(before, { savedAtMs: Date.now(), isAside, sent: sent.current }));
      sent.current = undefined;
    }
    if (packing.step !== "order")
      saveDraft(personId, draftOf(packing, { savedAtMs: Date.now(), isAside: false, sent: sent.current }));
  };

  const show = (packing: Packing, message: Message) => {
    setPacking(packing);
    say(message);
  };

  const line = useLine({
    onBusy: (isBusy) => setDrawn((before) => ({ ...before, isBusy })),
    onError: (error, dropped) => say({ outcome: "failed", error, dropped }),
  });

  const ship = async (state: OpenPacking, trackingNumber: string | null, isConfirmed: boolean) => {
    const attempt = await sendParcel(state, trackingNumber, isConfirmed);
    if (attempt.outcome === "unanswered") {
      sent.current = trackingNumber;
      setPacking({ ...state, wasSent: true });
      throw attempt.error;
    }
    if (attempt.outcome === "overtaken") {
      line.dropWaiting();
      setPacking(attempt.change.packing, { isDone: true });
      return say(attempt.change.message);
    }
    if (attempt.outcome === "rejected") {
      line.dropWaiting();
      const isCarrier = attempt.error.pointer === "/carrier";
      const code = isCarrier ? state.carrier : (trackingNumber ?? "");
      const next = isCarrier ? ({ ...state, step: "carrier", carrier: "" } as const) : state;
      return show(next, { outcome: "rejected", code, error: attempt.error });
    }
    if (attempt.outcome === "tracking-used") {
      line.dropWaiting();
      const { order } = attempt;
      const question = { about: "tracking", trackingNumber: trackingNumber ?? "", order } as const;
      return show({ ...state, question }, { outcome: "asked" });
    }
    store(CARRIER, state.carrier);
    await afterParcel(state, attempt.shipmentId);
  };

  /** The order stays open while units are left that are not missing. */
  const afterParcel = async (state: OpenPacking, shipmentId: string | null) => {
    void queryClient.invalidateQueries();
    const left =
      linesToPack(state.order).reduce((sum, { quantity }) => sum + quantity, 0) - unitsInBox(state);
    const { order } = state;
    if (left > unitsMissing(state)) {
      // Not the state with its counts: they are in the parcel that has left.
      setPacking({ step: "order" }, { isDone: true });
      // If it cannot be read now, the next scan opens it.
      const now = await readOrder(order.orderId).catch(() => undefined);
      if (now?.canShip)
        setPacking({
          ...openOrder(now, state.carrier, { parcels: state.parcels + 1, mayCancel }),
          damaged: state.damaged,
        });
      return say({ outcome: "parcel-shipped", order, shipmentId, rest: null });
    }
    setPacking({ step: "order" }, { isDone: true });
    const units = unitsMissing(state);
    // The parcel has left, whatever becomes of the rest.
    const failed = { units, is: "failed", stock: "none" } as const;
    const rest = units === 0 ? null : await settleRest(state).catch(() => failed);
    say({ outcome: "shipped", order, shipmentId, rest });
  };

  const open = async (scan: Scan) => {
    if (/^pick_/.test(scan.code)) return onPickList(scan.code);
    if (scan.code === "") return;
    if (commandOf(scan.code) !== null) return say({ outcome: "no-order-is-open", code: scan.code });
    const found = await lookUp(scan);
    const [order, other] = found.orders;
    if (order === undefined) return say({ outcome: "not-an-order", scan, found });
    if (other !== undefined) return say({ outcome: "several-orders", code: scan.code });
    await openFound(order);
  };

  const openFound = async (order: ScannedOrder, { isTaken = false } = {}) => {
    const draft = draftsOf(personId).find(({ orderId }) => orderId === order.orderId);
    const resumed = draft === undefined ? null : resume(draft, order, mayCancel);
    if (resumed !== null && resumed.shipmentId !== null) {
      removeDraft(personId, order.orderId);
      return say({ outcome: "shipped", order, shipmentId: resumed.shipmentId, rest: null });
    }
    if (!order.canShip) {
      removeDraft(personId, order.orderId);
      return say({ outcome: "cannot-ship", order });
    }
    if (!isTaken && (await tabs.isElsewhere(order.orderId))) return say({ outcome: "open-elsewhere", order });
    if (order.putAside !== null)
      await dataOf(api.POST("/api/orders/{id}/take-up", { params: { path: { id: order.orderId } } }));
    if (draft === undefined || resumed === null)
      return show(openOrder(order, readStored(CARRIER) ?? "", { parcels: 0, mayCancel }), {
        outcome: "opened",
        order,
      });
    sent.current = draft.sent?.trackingNumber;
    setPacking(resumed.packing);
    if (resumed.parts.length > 0) return say({ outcome: "changed", order, parts: resumed.parts });
    const units = unitsInBox(resumed.packing);
    say({ outcome: "continued", order, units });
  };

  const handle = async ({ state: next, outcome }: Scanned<OpenPacking>, before: OpenPacking) => {
    switch (outcome.outcome) {
      case "ship":
        present.current = next;
        return ship(next, outcome.trackingNumber, outcome.isConfirmed);
      case "undo": {
        const earlier = past.current.pop();
        if (earlier === undefined) return say({ outcome: "nothing-to-undo" });
        return show({ ...earlier, next: "put-in", question: null }, { outcome: "undone" });
      }
      case "print":
        return printSlip(next.order.orderId, null, unitsOfParcel(next));
      case "put-aside": {
        const { orderId } = next.order;
        const body = { reason: outcome.reason };
        await dataOf(api.POST("/api/orders/{id}/put-aside", { params: { path: { id: orderId } }, body }));
        present.current = next;
        setPacking({ step: "order" }, { isAside: true });
        void queryClient.invalidateQueries();
        return say({ outcome: "is-aside", order: next.order, reason: outcome.reason });
      }
      case "hold-rest": {
        const rest = await settleRest(next);
        setPacking({ step: "order" }, { isDone: true });
        void queryClient.invalidateQueries();
        return say({ outcome: "rest-held", order: next.order, rest });
      }
      case "record-damaged":
        return recordDamaged(next, outcome.lineId, outcome.wasInBox);
      default:
        if (outcome.outcome === "empty") return;
        if (isOtherStep(before, next)) past.current = [...past.current, before].slice(-UNDO_MAX);
        show(next, outcome);
    }
  };

  const recordDamaged = async (state: OpenPacking, lineId: string, wasInBox: boolean) => {
    const packed = linesToPack(state.order).find(({ id }) => id === lineId);
    if (packed === undefined) return;
    const times = (state.damaged[lineId] ?? 0) + 1;
    const reference = `table-${state.order.orderId}-${lineId}-damaged-${times}`;
    const stock = await takeFromStock(state.order, packed.productId, 1, "damaged", reference);
    const taken = wasInBox ? countUnits(state, lineId, -1).state : state;
    // What was recorded is not undone with the counts.
    past.current = [];
    show(
      { ...taken, damaged: { ...state.damaged, [lineId]: times } },
      {
        outcome: "recorded-damaged",
        name: packed.name,
        stock,
      },
    );
  };

  const printSlip = async (
    orderId: string,
    shipmentId: string | null,
    units: OpenPacking["counts"] | null,
  ) => {
    const slip = await queryClient.fetchQuery(slipQuery(orderId, shipmentId ?? undefined));
    const lines = slip.lines
      .map((each) => ({ ...each, quantity: units === null ? each.quantity : (units[each.id] ?? 0) }))
      .filter(({ quantity }) => quantity > 0);
    setDrawn((before) => ({ ...before, slip: { ...slip, lines } }));
  };

  const inOrder = (apply: (state: OpenPacking) => Scanned<OpenPacking>) =>
    line.enqueue(async () => {
      const state = present.current;
      if (state.step !== "order") await handle(apply(state), state);
    });

  // After a reload or a crash the newest order that no other tab has is open again.
  const begin = useEffectEvent(() =>
    line.enqueue(async () => {
      if (first !== undefined) return open(readScan(first));
      for (const { orderId, isAside } of draftsOf(personId)) {
        if (isAside || (await tabs.isElsewhere(orderId))) continue;
        const order = await readOrder(orderId);
        if (order !== undefined) return openFound(order);
        removeDraft(personId, orderId);
      }
    }),
  );
  useEffect(() => begin(), []);

  const { packing } = drawn;
  return {
    ...drawn,
    drafts: draftsOf(personId).filter(
      ({ orderId }) => packing.step === "order" || packing.order.orderId !== orderId,
    ),
    scan: (scan) =>
      line.enqueue(async () => {
        const state = present.current;
        if (state.step === "order") await open(scan);
        else await handle(applyScan(state, scan), state);
      }),
    command: (command) => inOrder((state) => applyCommand(state, command)),
    answer: (number) => inOrder((state) => applyScan(state, readScan(String(number)))),
    count: (lineId, units) => inOrder((state) => countUnits(state, lineId, units)),
    ask: (question) =>
      inOrder((state) => ({ state: { ...state, question, next: "put-in" }, outcome: { outcome: "asked" } })),
    chooseCarrier: (carrier) => inOrder((state) => withCarrier(state, carrier)),
    openHere: (orderId) =>
      line.enqueue(async () => {
        tabs.take(orderId);
        const order = await readOrder(orderId);
        if (order !== undefined) await openFound(order, { isTaken: true });
      }),
    print: (orderId, shipmentId) => line.enqueue(() => printSlip(orderId, shipmentId, null)),
    isPrinted: () => setDrawn((before) => ({ ...before, slip: null })),
  };
}

/** True if there is something to undo. */
const isOtherStep = (before: OpenPacking, next: OpenPacking): boolean =>
  before.step !== next.step ||
  before.counts !== next.counts ||
  before.missing !== next.missing ||
  before.carrier !== next.carrier ||
  before.weightGrams !== next.weightGrams;

const readOrder = async (orderId: string): Promise<ScannedOrder | undefined> => {
  const { orders } = await lookUp(readScan(orderId));
  return orders.find((order) => order.orderId === orderId);
};

// What is kept in the browser.

const DRAFTS_MAX = 30;
/** As long as the longest pick list. */
const DRAFT_MS = 12 * 3_600_000;
const keyOf = (personId: string): string => `packing:${personId}`;

/** The orders that the person has begun on this device, newest first. */
function draftsOf(personId: string): readonly Draft[] {
  try {
    const drafts: unknown = JSON.parse(readStored(keyOf(personId)) ?? "[]");
    // Only this file writes them.
    return Array.isArray(drafts)
      ? (drafts as Draft[]).filter(({ savedAtMs }) => savedAtMs > Date.now() - DRAFT_MS)
      : [];
  } catch {
    return [];
  }
}

const saveDraft = (personId: string, draft: Draft): void =>
  storeDrafts(personId, [draft, ...draftsOf(personId).filter(({ orderId }) => orderId !== draft.orderId)]);

const removeDraft = (personId: string, orderId: string): void =>
  storeDrafts(
    personId,
    draftsOf(personId).filter((draft) => draft.orderId !== orderId),
  );

const storeDrafts = (personId: string, drafts: readonly Draft[]): void =>
  store(keyOf(personId), JSON.stringify(drafts.slice(0, DRAFTS_MAX)));

// Other tabs of this browser.

/** A tab that has the order responds sooner, also in the background. One that has crashed never does. */
const RESPONSE_MS = 150;
type TabMessage = { readonly about: "ask" | "have" | "take"; readonly orderId: string };

function useOtherTabs(own: { openOrderId(): string | null; onTaken(): void }) {
  const channel = useRef<BroadcastChannel | null>(null);
  const isHere = useEffectEvent((orderId: string) => own.openOrderId() === orderId);
  const onTaken = useEffectEvent(() => own.onTaken());
  useEffect(() => {
    const opened = new BroadcastChannel("packing");
    const respond = ({ data: { about, orderId } }: MessageEvent<TabMessage>) => {
      if (!isHere(orderId)) return;
      if (about === "ask") opened.postMessage({ about: "have", orderId } satisfies TabMessage);
      if (about === "take") onTaken();
    };
    opened.addEventListener("message", respond);
    channel.current = opened;
    return () => opened.close();
  }, []);
  const isElsewhere = (orderId: string): Promise<boolean> =>
    new Promise((resolve) => {
      const asked = channel.current;
      const hear = ({ data }: MessageEvent<TabMessage>) => {
        if (data.about === "have" && data.orderId === orderId) end(true);
      };
      const timer = setTimeout(() => end(false), RESPONSE_MS);
      const end = (isThere: boolean) => {
        clearTimeout(timer);
        asked?.removeEventListener("message", hear);
        resolve(isThere);
      };
      asked?.addEventListener("message", hear);
      asked?.postMessage({ about: "ask", orderId } satisfies TabMessage);
    });
  const take = (orderId: string) =>
    channel.current?.postMessage({ about: "take", orderId } satisfies TabMessage);
  return { isElsewhere, take };
}

type Task = () => Promise<void>;
type LineOptions = { onBusy(isBusy: boolean): void; onError(error: unknown, dropped: number): void };
type Line = {
  enqueue(task: Task): void;
  /** What was scanned for the step that was not taken must not count for another one. */
  dropWaiting(): void;
};

/** Runs tasks one after the other, in the order in which they came. */
function useLine({ onBusy, onError }: LineOptions): Line {
  const waiting = useRef<Task[]>([]);
  const isRunning = useRef(false);
  const dropWaiting = () => {
    waiting.current = [];
  };
  const run = async () => {
    isRunning.current = true;
    onBusy(true);
    for (let task = waiting.current.shift(); task !== undefined; task = waiting.current.shift()) {
      try {
        await task();
      } catch (error) {
        const dropped = waiting.current.length;
        dropWaiting();
        onError(error, dropped);
      }
    }
    isRunning.current = false;
    onBusy(false);
  };
  return {
    enqueue: (task) => {
      waiting.current.push(task);
      if (!isRunning.current) void run();
    },
    dropWaiting,
  };
}

// What the service does.

/** How an attempt to ship a parcel ended. */
type Attempt =
  | { readonly outcome: "shipped"; readonly shipmentId: string | null }
  /** Nothing has shipped: there is something to say first. */
  | { readonly outcome: "overtaken"; readonly change: Change }
  /** The service knows the carrier or the number as something else. */
  | { readonly outcome: "rejected"; readonly error: ValidationError }
  /** Another open parcel has the number. */
  | { readonly outcome: "tracking-used"; readonly order: string }
  /** It may have shipped. The next attempt finds out. */
  | { readonly outcome: "unanswered"; readonly error: unknown };

/**
 * Ships what was counted (docs/design/fulfilment.md, "A parcel ships as it was packed"). The order is read again before:
 * another person may have corrected its address, or shipped a part of it. An attempt whose response was lost may have made the
 * shipment; then nothing is shipped twice.
 *
 * @throws ApiProblem if nothing has shipped
 */
async function sendParcel(
  state: OpenPacking,
  trackingNumber: string | null,
  isConfirmed: boolean,
): Promise<Attempt> {
  const request = {
    ...parcelRequest(state, trackingNumber),
    ...(isConfirmed && { repeatedTrackingNumber: true }),
  };
  const before = await sentOrOvertaken(state, request);
  if (before !== null) return before;
  try {
    const params = { path: { id: state.order.orderId } };
    const order = await dataOf(api.POST("/api/orders/{id}/ship", { params, body: request }));
    return { outcome: "shipped", shipmentId: order.shipments.at(-1)?.id ?? null };
  } catch (error) {
    if (isLost(error)) return { outcome: "unanswered", error };
    if (isProblem(error, "transition-refused") && error.members["rule"] === "tracking_number_repeated") {
      const other = await readOrder(String(error.members["orderId"]));
      return { outcome: "tracking-used", order: other?.externalOrderId ?? other?.orderId ?? "" };
    }
    if (isProblem(error, "validation-failed")) {
      const ofLabel = error.errors.find(
        ({ pointer }) => pointer === "/trackingNumber" || pointer === "/carrier",
      );
      if (ofLabel !== undefined) return { outcome: "rejected", error: ofLabel };
    }
    // Another person, or the attempt before, was faster by a moment.
    const after = isProblem(error, "transition-refused") ? await sentOrOvertaken(state, request) : null;
    if (after !== null) return after;
    throw error;
  }
}

/** No response of the service arrived, or a proxy responded in its place. */
const isLost = (error: unknown): boolean =>
  isUncertain(error) || (error instanceof ApiProblem && error.status >= 500);

/** Null: the order is as it was opened, and the parcel has not shipped. */
async function sentOrOvertaken(state: OpenPacking, request: ShipRequest): Promise<Attempt | null> {
  const now = await readOrder(state.order.orderId);
  const shipmentId = now === undefined ? null : shipmentOfLostAttempt(state, request, now);
  if (shipmentId !== null) return { outcome: "shipped", shipmentId };
  const change = changeSince(state, now);
  return change === null ? null : { outcome: "overtaken", change };
}

/**
 * Holds an order of which units are not there, or cancels these, and corrects the stock as far as orders do not need it. All else
 * has shipped, so what is left is missing.
 */
async function settleRest(state: OpenPacking): Promise<RestOutcome> {
  const { order, missing } = state;
  const isCanceled = state.rest === "cancel" && (await cancelRest(order));
  if (!isCanceled) {
    const params = { path: { id: order.orderId } };
    await dataOf(api.POST("/api/orders/{id}/hold", { params, body: { reasons: ["out_of_stock"] } }));
  }
  const outcomes: StockOutcome[] = [];
  for (const line of linesToPack(order)) {
    const units = missing[line.id] ?? 0;
    if (units === 0) continue;
    const reference = `table-${order.orderId}-${line.id}-missing`;
    outcomes.push(await takeFromStock(order, line.productId, units, "lost", reference));
  }
  const stock = outcomes.find((each) => each !== "adjusted") ?? "adjusted";
  const is = isCanceled ? "canceled" : state.rest === "cancel" ? "heldInstead" : "held";
  return { units: unitsMissing(state), is, stock };
}

/** False if the order forbids it, such as one whose goods are not paid yet. */
async function cancelRest(order: ScannedOrder): Promise<boolean> {
  const params = { path: { id: order.orderId } };
  const left = linesToPack((await readOrder(order.orderId)) ?? order);
  const lines = left.map(({ id, quantity }) => ({ lineId: id, quantity }));
  const reference = `table-${order.orderId}-${left[0]?.id}`;
  const body = { lines, reason: "out_of_stock" as const, reference };
  try {
    await dataOf(api.POST("/api/orders/{id}/cancel-lines", { params, body }));
    return true;
  } catch (error) {
    if (isProblem(error, "transition-refused")) return false;
    throw error;
  }
}

/** The reference makes a retry safe. */
async function takeFromStock(
  { facilityId }: ScannedOrder,
  productId: string,
  units: number,
  reason: "damaged" | "lost",
  reference: string,
): Promise<StockOutcome> {
  if (facilityId === null) return "none";
  try {
    const params = { path: { id: facilityId, productId } };
    const body = { difference: -units, reason, reference };
    await dataOf(api.POST("/api/facilities/{id}/stock/{productId}/adjust", { params, body }));
    return "adjusted";
  } catch (error) {
    if (isProblem(error, "not-found")) return "none";
    if (isProblem(error, "validation-failed")) return "kept";
    throw error;
  }
}
