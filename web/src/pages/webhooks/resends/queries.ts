import { read } from "../../../api/read.ts";
import { ownerRoute } from "../owner.ts";

const SHOWN_MAX = 5;
/** While a resend runs. */
const PROGRESS_EVERY_MS = 1_500;

/** The newest resends of an owner, read again while one of them runs. */
export const resendsQuery = (id: string) => ({
  ...read(ownerRoute(id, "/resends"), { params: { path: { id }, query: { limit: SHOWN_MAX } } }),
  refetchInterval: ({
    state,
  }: {
    state: { data?: { data: readonly { status: string; sendingCount: number }[] } | undefined };
  }) =>
    state.data?.data.some(({ status, sendingCount }) => status === "running" || sendingCount > 0)
      ? PROGRESS_EVERY_MS
      : false,
});
