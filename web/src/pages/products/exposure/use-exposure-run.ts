import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type ExposureChange, type Products, runExposure, type Target } from "./run-exposure.ts";

type Counts = Readonly<Record<string, number>>;

/** How far a change of exposure is. */
export type RunState = {
  readonly phase: "choosing" | "counting" | "counted" | "changing" | "stopped" | "failed" | "done";
  readonly targets: readonly Target[];
  /** Products that would change, by the id of the connection. */
  readonly toChange: Counts;
  /** Products that have changed. */
  readonly changed: Counts;
  readonly error: unknown;
};

const START: RunState = { phase: "choosing", targets: [], toChange: {}, changed: {}, error: null };

export const sumOf = (counts: Counts): number => Object.values(counts).reduce((sum, each) => sum + each, 0);

const plus = (counts: Counts, { id }: Target, count: number): Counts => ({
  ...counts,
  [id]: (counts[id] ?? 0) + count,
});

type ExposureRun = {
  readonly state: RunState;
  count(targets: readonly Target[]): void;
  apply(): void;
  /** After the request that is on its way. */
  stop(): void;
};

/** Counts what a change of exposure would change, and then changes it, request by request. */
export function useExposureRun(change: ExposureChange, products: Products): ExposureRun {
  const queryClient = useQueryClient();
  const [state, setState] = useState<RunState>(START);
  const stopper = useRef(new AbortController());
  useEffect(() => () => stopper.current.abort(), []);

  const run = async (targets: readonly Target[], isDryRun: boolean): Promise<void> => {
    stopper.current.abort();
    stopper.current = new AbortController();
    const { signal } = stopper.current;
    const counts = isDryRun ? "toChange" : "changed";
    const update = (next: (before: RunState) => Partial<RunState>) =>
      setState((before) => (signal === stopper.current.signal ? { ...before, ...next(before) } : before));
    update(() => ({ phase: isDryRun ? "counting" : "changing", targets, error: null, [counts]: {} }));
    try {
      await runExposure({
        ...{ change, products, targets, isDryRun, signal },
        onPart: (target, changed) =>
          update((before) => ({ [counts]: plus(before[counts], target, changed) })),
      });
      update(() => ({ phase: isDryRun ? "counted" : "done" }));
    } catch (error) {
      update(() => (signal.aborted ? { phase: "stopped" } : { phase: "failed", error }));
    }
    if (!isDryRun) await queryClient.invalidateQueries();
  };

  return {
    state,
    count: (targets) => void run(targets, true),
    apply: () => void run(state.targets, false),
    stop: () => stopper.current.abort(),
  };
}
