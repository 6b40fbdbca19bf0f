import { useQuery, useQueryClient } from "@tanstack/react-query";

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
