import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { ApiProblem } from "../../api/problem.ts";
import type { ScannedOrder } from "../../api/schema.d.ts";
import { readStored, store } from "../../stored.ts";
import {
  applyScan,
  countUnits,
  linesToPack,
  type OpenPacking,
  type Outcome,
  openOrder,
  type Packing,
} from "./packing.ts";

/** What the station says of the last scan. */
export type Message =
  | Outcome
  | { readonly outcome: "opened"; readonly order: ScannedOrder }
  | { readonly outcome: "unknown-code" | "several-orders"; readonly code: string }
  | { readonly outcome: "cannot-ship"; readonly order: ScannedOrder }
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

const scanned = (code: string) => dataOf(api.GET("/api/work-list/scan", { params: { query: { code } } }));

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

  const ship = async (state: OpenPacking, trackingNumber: string | null) => {
    const { order, weightGrams, carrier } = state;
    const lineIds = linesToPack(order).map(({ id }) => id);
    const shipmentId = await shipOnce(order.orderId, {
      lineIds,
      ...(weightGrams !== null && { weightGrams }),
      ...(carrier !== "" && { carrier }),
      ...(trackingNumber !== null && { trackingNumber }),
    });
    store(CARRIER, carrier);
    show({ step: "order" }, { outcome: "shipped", order, shipmentId });
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

  const enqueue = useLine({
    onBusy: (isBusy) => setDrawn((before) => ({ ...before, isBusy })),
    onError: (error) => show(present.current, { outcome: "failed", error }),
  });

  return {
    ...drawn,
    scan: (code) => enqueue(() => handle(code)),
    count: (lineId, units) =>
      enqueue(async () => {
        const state = present.current;
        if (state.step === "order") return;
        const { state: next, outcome } = countUnits(state, lineId, units);
        show(next, outcome);
      }),
    putAside: () => enqueue(async () => show({ step: "order" }, { outcome: "put-aside" })),
  };
}

type Task = () => Promise<void>;
type Line = { onBusy(isBusy: boolean): void; onError(error: unknown): void };

/** Runs tasks one after the other, in the order in which they came. */
function useLine({ onBusy, onError }: Line): (task: Task) => void {
  const waiting = useRef<Task[]>([]);
  const isRunning = useRef(false);
  const run = async () => {
    isRunning.current = true;
    onBusy(true);
    for (let task = waiting.current.shift(); task !== undefined; task = waiting.current.shift()) {
      try {
        await task();
      } catch (error) {
        // What was scanned for the step that failed must not count for another one.
        waiting.current = [];
        onError(error);
      }
    }
    isRunning.current = false;
    onBusy(false);
  };
  return (task) => {
    waiting.current.push(task);
    if (!isRunning.current) void run();
  };
}

type ShipBody = {
  lineIds: string[];
  weightGrams?: number;
  carrier?: string;
  trackingNumber?: string;
};

/**
 * Ships the counted lines. If an earlier attempt had its effect although its response was lost, the service rejects this
 * one, and the shipment is there: then nothing is shipped twice. Returns its id.
 */
async function shipOnce(orderId: string, body: ShipBody): Promise<string | null> {
  try {
    const order = await dataOf(
      api.POST("/api/orders/{id}/ship", { params: { path: { id: orderId } }, body }),
    );
    return order.shipments.at(-1)?.id ?? null;
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== "transition-refused") throw error;
    const { orders } = await scanned(orderId);
    const made = orders[0]?.shipments.find(
      ({ lineIds, trackingNumber }) =>
        trackingNumber === (body.trackingNumber ?? null) && body.lineIds.every((id) => lineIds.includes(id)),
    );
    if (made === undefined) throw error;
    return made.id;
  }
}
