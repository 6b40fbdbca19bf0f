import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { ApiProblem, isProblem, isUncertain } from "../../api/problem.ts";
import type { ScannedOrder, ShipRequest } from "../../api/schema.d.ts";
import { readStored, store } from "../../stored.ts";
import { applyScan, countUnits, type OpenPacking, type Outcome, openOrder, type Packing } from "./packing.ts";
import {
  type Change,
  type ChangeMessage,
  changeSince,
  parcelRequest,
  shipmentOfLostAttempt,
} from "./parcel.ts";
import { scanned } from "./queries.ts";

/** What the station says of the last scan. */
export type Message =
  | Outcome
  | ChangeMessage
  | { readonly outcome: "opened"; readonly order: ScannedOrder }
  | { readonly outcome: "several-orders"; readonly code: string }
  | { readonly outcome: "shipped"; readonly order: ScannedOrder; readonly shipmentId: string | null }
  | { readonly outcome: "put-aside" }
  | { readonly outcome: "failed"; readonly error: unknown };

export type Station = {
  readonly packing: Packing;
  readonly message: Message | null;
  readonly number: number;
  readonly isBusy: boolean;
  scan(code: string): void;
  count(lineId: string, units: number): void;
  putAside(): void;
};

const CARRIER = "carrier";

/**
 * The packing table. Scans are handled one after the other in their order, however fast they come: while one waits for
 * the service, those after it wait in line and are not lost.
 */
export function useStation(): Station {
  const queryClient = useQueryClient();
  // What the next scan in line starts from; React's state is only what is drawn.
  const present = useRef<Packing>({ step: "order" });
  const [drawn, setDrawn] = useState<Omit<Station, "scan" | "count" | "putAside">>({
    packing: present.current,
    message: null,
    number: 0,
    isBusy: false,
  });

  const show = (packing: Packing, message: Message) => {
    present.current = packing;
    setDrawn((before) => ({ ...before, packing, message, number: before.number + 1 }));
  };

  const line = useLine({
    onBusy: (isBusy) => setDrawn((before) => ({ ...before, isBusy })),
    onError: (error) => show(present.current, { outcome: "failed", error }),
  });

  const ship = async (state: OpenPacking, trackingNumber: string | null) => {
    const sent = await sendParcel(state, trackingNumber);
    if (sent.outcome === "unanswered") {
      present.current = { ...state, wasSent: true };
      throw sent.error;
    }
    if (sent.outcome === "overtaken") {
      line.dropWaiting();
      return show(sent.change.packing, sent.change.message);
    }
    store(CARRIER, state.carrier);
    const { order } = state;
    show({ step: "order" }, { outcome: "shipped", order, shipmentId: sent.shipmentId });
    void queryClient.invalidateQueries();
  };

  const open = async (code: string) => {
    if (code === "") return;
    const { orders } = await scanned(code);
    const [order, other] = orders;
    if (order === undefined) show({ step: "order" }, { outcome: "unknown-code", code });
    else if (other !== undefined) show({ step: "order" }, { outcome: "several-orders", code });
    else if (!order.canShip) show({ step: "order" }, { outcome: "cannot-ship", order });
    else show(openOrder(order, readStored(CARRIER) ?? ""), { outcome: "opened", order });
  };

  const handle = async (code: string) => {
    const state = present.current;
    if (state.step === "order") return open(code);
    const { state: next, outcome } = applyScan(state, code);
    if (outcome.outcome === "ship") await ship(state, outcome.trackingNumber);
    else if (outcome.outcome !== "empty") show(next, outcome);
  };

  return {
    ...drawn,
    scan: (code) => line.enqueue(() => handle(code)),
    count: (lineId, units) =>
      line.enqueue(async () => {
        const state = present.current;
        if (state.step === "order") return;
        const { state: next, outcome } = countUnits(state, lineId, units);
        show(next, outcome);
      }),
    putAside: () => line.enqueue(async () => show({ step: "order" }, { outcome: "put-aside" })),
  };
}

type Task = () => Promise<void>;
type LineOptions = { onBusy(isBusy: boolean): void; onError(error: unknown): void };
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
        dropWaiting();
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

/** How an attempt to ship a parcel ended. */
type Sent =
  | { readonly outcome: "shipped"; readonly shipmentId: string | null }
  /** Nothing has shipped: there is something to say first. */
  | { readonly outcome: "overtaken"; readonly change: Change }
  /** It may have shipped. The next attempt finds out. */
  | { readonly outcome: "unanswered"; readonly error: unknown };

/**
 * Ships what was counted (docs/design/fulfilment.md, "A parcel ships as it was packed"). The order is read again before:
 * another person may have corrected its address, or shipped a part of it. An attempt whose response was lost may have made the
 * shipment; then nothing is shipped twice.
 *
 * @throws ApiProblem if nothing has shipped
 */
async function sendParcel(state: OpenPacking, trackingNumber: string | null): Promise<Sent> {
  const request = parcelRequest(state, trackingNumber);
  const before = await sentOrOvertaken(state, request);
  if (before !== null) return before;
  try {
    const params = { path: { id: state.order.orderId } };
    const order = await dataOf(api.POST("/api/orders/{id}/ship", { params, body: request }));
    return { outcome: "shipped", shipmentId: order.shipments.at(-1)?.id ?? null };
  } catch (error) {
    if (isLost(error)) return { outcome: "unanswered", error };
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
async function sentOrOvertaken(state: OpenPacking, request: ShipRequest): Promise<Sent | null> {
  const { orderId } = state.order;
  const { orders } = await scanned(orderId);
  const now = orders.find((order) => order.orderId === orderId);
  const shipmentId = now === undefined ? null : shipmentOfLostAttempt(state, request, now);
  if (shipmentId !== null) return { outcome: "shipped", shipmentId };
  const change = changeSince(state, now);
  return change === null ? null : { outcome: "overtaken", change };
}
