import { type Actor, SERVICE } from "../lifecycle/applied-transition.ts";

/** Who requests an operation, and with which request. */
export type Initiator = {
  readonly actor: Actor;
  /** As in `x-request-id`; null if no request caused the operation. */
  readonly requestId: string | null;
  /** The requested operation of the API, such as `createKey`. */
  readonly action: string;
};

/** The service itself, without a request. */
export const byService = (action: string): Initiator => ({ actor: SERVICE, requestId: null, action });
