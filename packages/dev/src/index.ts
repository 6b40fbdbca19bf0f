import { clockAt, type DevClock, type Moved, type Span } from "./dev-clock.ts";
import { type Addresses, launch, type StartOptions } from "./launch.ts";

export type { Addresses, DevClock, Moved, Span, StartOptions };
export { clockAt };

/** A running service, with a connection that no other run has. */
export type TestService = Addresses & {
  /** The same as plain data, for another process. */
  readonly addresses: Addresses;
  /** The clock of the service. Another process has it with `clockAt(dev)`. */
  readonly clock: DevClock;
  /** Ends the service and removes its data, unless `dataDir` keeps it. May be called more than once. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Starts the service in a process of its own, with a PostgreSQL and a demo connection, and resolves when it accepts requests. The
 * service ends with this process, also if that is killed.
 * @throws Error that says why the service did not start, or that the environment is one of production
 */
export async function startTestService(options: StartOptions = {}): Promise<TestService> {
  const { addresses, stop } = await launch(options);
  return { ...addresses, addresses, clock: clockAt(addresses.dev), stop, [Symbol.asyncDispose]: stop };
}
