import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { useAnnounce } from "../ui/announce.ts";
import { isProblem, isUncertain } from "./problem.ts";

type Change<Input, Output> = {
  /** Sends the change: `dataOf(api.POST(...))`. */
  readonly run: (input: Input) => Promise<Output>;
  /** The outcome, in a few words. Absent: nothing is announced. */
  readonly done?: string | ((output: Output) => string);
  readonly onDone?: (output: Output) => void;
  /** True if the page shows an error itself, so that it is not announced. Default: never. */
  readonly showsError?: () => boolean;
};

/** Problems of a request that was made for what is no longer stored. */
const WERE_CHANGED = ["version-changed", "stock-changed"];

/**
 * A change of something in the service. Afterwards all that pages show is read again: a change of an order also changes
 * lists, stock and money, and only what is on the screen is read. While one is being sent, a further one is not: two clicks
 * within one task of the browser come before the button is disabled.
 */
export function useChange<Input = void, Output = unknown>({
  run,
  done,
  onDone,
  showsError = () => false,
}: Change<Input, Output>) {
  const queryClient = useQueryClient();
  const announce = useAnnounce();
  const isSending = useRef(false);
  const mutation = useMutation<Output, Error, Input>({
    mutationFn: run,
    onSuccess: async (output) => {
      const message = typeof done === "function" ? done(output) : done;
      if (message !== undefined) announce.done(message);
      onDone?.(output);
      await queryClient.invalidateQueries();
    },
    onError: (error) => {
      // The page shows whether it was done, or what another person has changed.
      if (isUncertain(error) || WERE_CHANGED.some((code) => isProblem(error, code)))
        void queryClient.invalidateQueries();
      if (!showsError()) announce.failed(error);
    },
    onSettled: () => {
      isSending.current = false;
    },
  });
  const mutate: typeof mutation.mutate = (...sent) => {
    if (isSending.current) return;
    isSending.current = true;
    mutation.mutate(...sent);
  };
  return { ...mutation, mutate };
}
