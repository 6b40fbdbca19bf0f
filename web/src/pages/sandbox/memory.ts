import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { DeliveryFault, PossibleTransition } from "../../api/schema.d.ts";
import type { PartnerRequest } from "./partner-request.ts";

/**
 * A value that lasts as long as the tab, across pages. It is nowhere but in the memory of the page, and signing out
 * empties that.
 */
export function useMemory<Value>(
  key: readonly string[],
  initial: Value,
): readonly [Value, (change: (value: Value) => Value) => void] {
  const client = useQueryClient();
  const queryKey = ["memory", ...key];
  const { data } = useQuery<Value>({
    queryKey,
    queryFn: () => client.getQueryData<Value>(queryKey) ?? initial,
    initialData: initial,
    staleTime: "static",
    gcTime: Number.POSITIVE_INFINITY,
  });
  const set = (change: (value: Value) => Value) =>
    client.setQueryData<Value>(queryKey, (value) => change(value ?? initial));
  return [data ?? initial, set];
}

export type TransitionName = PossibleTransition["transition"];

/** What was done to a test order in this tab. */
export type Step = { readonly at: string; readonly request: PartnerRequest } & (
  | { readonly transition: TransitionName }
  | { readonly fault: DeliveryFault["fault"] }
);

const STEPS_MAX = 100;

export function useSteps(orderId: string): readonly [readonly Step[], (step: Step) => void] {
  const [steps, change] = useMemory<readonly Step[]>(["sandbox-steps", orderId], []);
  return [steps, (step) => change((before) => [...before, step].slice(-STEPS_MAX))];
}
