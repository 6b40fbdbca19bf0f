import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole, useMe } from "../../api/me.ts";
import { isProblem } from "../../api/problem.ts";
import { newReference } from "../../api/reference.ts";
import type { Scan as Found, PackingSlip, ScannedOrder, ValidationError } from "../../api/schema.d.ts";
import { readStored, store } from "../../stored.ts";
import { lookUp } from "../../ui/scan/look-up.ts";
import { commandOf, readScan, type Scan } from "../../ui/scan/read-scan.ts";
import { type Draft, draftOf, draftsOf, removeDraft, resume, saveDraft } from "./drafts.ts";
import {
  type AsideReason,
  applyCommand,
  applyScan,
  type ChangeMessage,
  type Command,
  countUnits,
  linesToPack,
  nextParcel,
  type OpenPacking,
  type Outcome,
  openOrder,
  type Packing,
  type Scanned,
  unitsInBox,
  unitsMissing,
  unitsOfParcel,
  withCarrier,
} from "./packing.ts";
import { pickListQuery, slipQuery } from "./queries.ts";
import {
  type RestOutcome,
  readOrder,
  type StockOutcome,
  sendParcel,
  settleRest,
  takeFromStock,
} from "./ship-parcel.ts";

/** What the station says of the last scan. */
export type Message =
  | Exclude<Outcome, { outcome: "undo" | "print" | "put-aside" | "hold-rest" | "record-damaged" | "ship" }>
  | ChangeMessage
  | { readonly outcome: "opened" | "open-elsewhere" | "taken-elsewhere"; readonly order: ScannedOrder }
  | { readonly outcome: "continued"; readonly order: ScannedOrder; readonly units: number }
  | { readonly outcome: "not-an-order"; readonly scan: Scan; readonly found: Found }
  | { readonly outcome: "several-orders" | "no-order-is-open"; readonly code: string }
  | { readonly outcome: "pick-list"; readonly takenBy: string; readonly orders: number }
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
  | { readonly outcome: "failed"; readonly error: unknown };

export type Station = {
  readonly packing: Packing;
  readonly message: Message | null;
  /** Messages that were shown too shortly to be read, before the present one. */
  readonly unread: readonly Message[];
  /** Counts the messages. */
  readonly number: number;
  /** Scans that were not taken, since the one of the message needs something first. */
  readonly dropped: number;
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
/** A person who scans fast has seen a message that stayed for this long. */
const READ_MS = 3_000;
const UNREAD_MAX = 10;

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
  const [drawn, setDrawn] = useState<
    Pick<Station, "packing" | "message" | "unread" | "number" | "dropped" | "isBusy" | "slip">
  >({
    ...{
      packing: present.current,
      message: null,
      unread: [],
      number: 0,
      dropped: 0,
      isBusy: false,
      slip: null,
    },
  });
  const saidAtMs = useRef(0);

  const tabs = useOtherTabs({
    openOrderId: () => (present.current.step === "order" ? null : present.current.order.orderId),
    onTaken: () => {
      const state = present.current;
      if (state.step === "order") return;
      setPacking({ step: "order" });
      sayAlone({ outcome: "taken-elsewhere", order: state.order });
    },
  });

  const say = (message: Message, dropped = 0) => {
    const nowMs = Date.now();
    const isRead = nowMs - saidAtMs.current > READ_MS;
    saidAtMs.current = nowMs;
    setDrawn((before) => ({
      ...before,
      ...{ packing: present.current, message, number: before.number + 1, dropped },
      unread: isRead || before.message === null ? [] : [...before.unread, before.message].slice(-UNREAD_MAX),
    }));
  };
  /** What was scanned for the step that was not taken must not count for another one. */
  const sayAlone = (message: Message) => say(message, line.dropWaiting());

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

  const line = useLine({
    onBusy: (isBusy) => setDrawn((before) => ({ ...before, isBusy })),
    onError: (error) => sayAlone({ outcome: "failed", error }),
  });

  const ship = async (state: OpenPacking, trackingNumber: string | null, isConfirmed: boolean) => {
    const attempt = await sendParcel(state, trackingNumber, isConfirmed);
    if (attempt.outcome === "unanswered") {
      sent.current = trackingNumber;
      setPacking({ ...state, wasSent: true });
      throw attempt.error;
    }
    if (attempt.outcome === "overtaken") {
      setPacking(attempt.change.packing, { isDone: true });
      return sayAlone(attempt.change.message);
    }
    if (attempt.outcome === "rejected") {
      const isCarrier = attempt.error.pointer === "/carrier";
      const code = isCarrier ? state.carrier : (trackingNumber ?? "");
      setPacking(isCarrier ? { ...state, step: "carrier", carrier: "" } : state);
      return sayAlone({ outcome: "rejected", code, error: attempt.error });
    }
    if (attempt.outcome === "tracking-used") {
      const { order } = attempt;
      setPacking({ ...state, question: { about: "tracking", trackingNumber: trackingNumber ?? "", order } });
      return sayAlone({ outcome: "asked" });
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
      if (now?.canShip) setPacking(nextParcel(now, state));
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
    if (/^pick_/.test(scan.code)) return openPickList(scan.code);
    if (scan.code === "") return;
    if (commandOf(scan.code) !== null) return say({ outcome: "no-order-is-open", code: scan.code });
    const found = await lookUp(scan);
    const [order, other] = found.orders;
    if (order === undefined) return say({ outcome: "not-an-order", scan, found });
    if (other !== undefined) return say({ outcome: "several-orders", code: scan.code });
    await openFound(order);
  };

  const openPickList = async (id: string) => {
    const list = await queryClient.fetchQuery(pickListQuery(id)).catch((error: unknown) => {
      if (isProblem(error, "not-found")) return null;
      throw error;
    });
    if (list === null || list.pickList === null) return say({ outcome: "unknown-code", code: id });
    onPickList(id);
    say({ outcome: "pick-list", takenBy: list.pickList.takenBy, orders: list.orders.length });
  };

  const openFound = async (order: ScannedOrder, { isTaken = false } = {}) => {
    const draft = draftsOf(personId).find(({ orderId }) => orderId === order.orderId);
    const resumed = draft === undefined ? null : resume(draft, order, mayCancel);
    if (resumed !== null && resumed.shipmentId !== null) {
      removeDraft(personId, order.orderId);
      // What is left is packed next, or found to be missing once more.
      if (order.canShip) setPacking(nextParcel(order, resumed.packing));
      const outcome = order.canShip ? "parcel-shipped" : "shipped";
      return say({ outcome, order, shipmentId: resumed.shipmentId, rest: null });
    }
    if (!order.canShip) {
      removeDraft(personId, order.orderId);
      return say({ outcome: "cannot-ship", order });
    }
    if (!isTaken && (await tabs.isElsewhere(order.orderId))) return say({ outcome: "open-elsewhere", order });
    if (order.putAside !== null)
      await dataOf(api.POST("/api/orders/{id}/take-up", { params: { path: { id: order.orderId } } }));
    if (draft === undefined || resumed === null) {
      setPacking(
        openOrder(order, readStored(CARRIER) ?? "", {
          ...{ parcels: 0, damaged: {}, mayCancel, reference: newReference("table") },
        }),
      );
      return say({ outcome: "opened", order });
    }
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
        setPacking({ ...earlier, next: "put-in", question: null });
        return say({ outcome: "undone" });
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
        setPacking(next);
        say(outcome);
    }
  };

  const recordDamaged = async (state: OpenPacking, lineId: string, wasInBox: boolean) => {
    const packed = linesToPack(state.order).find(({ id }) => id === lineId);
    if (packed === undefined) return;
    const times = (state.damaged[lineId] ?? 0) + 1;
    const reference = `${state.reference}-${lineId}-damaged-${times}`;
    const stock = await takeFromStock(state.order, packed.productId, 1, "damaged", reference);
    const taken = wasInBox ? countUnits(state, lineId, -1).state : state;
    // What was recorded is not undone with the counts.
    past.current = [];
    setPacking({ ...taken, damaged: { ...state.damaged, [lineId]: times } });
    say({ outcome: "recorded-damaged", name: packed.name, stock });
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
      inOrder((state) => ({
        state: { ...state, question, next: "put-in" },
        outcome: { outcome: question === null ? "not-asked" : "asked" },
      })),
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
type LineOptions = { onBusy(isBusy: boolean): void; onError(error: unknown): void };
type Line = {
  enqueue(task: Task): void;
  /** Leaves out what waits, and says how much that was. */
  dropWaiting(): number;
};

/** Runs tasks one after the other, in the order in which they came. */
function useLine({ onBusy, onError }: LineOptions): Line {
  const waiting = useRef<Task[]>([]);
  const isRunning = useRef(false);
  const dropWaiting = () => waiting.current.splice(0).length;
  const run = async () => {
    isRunning.current = true;
    onBusy(true);
    for (let task = waiting.current.shift(); task !== undefined; task = waiting.current.shift()) {
      try {
        await task();
      } catch (error) {
        onError(error);
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
