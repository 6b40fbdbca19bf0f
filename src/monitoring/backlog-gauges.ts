import { Gauge, type Registry } from "prom-client";
import type { Context } from "../platform/context.ts";
import { atMostEvery } from "../platform/log.ts";
import { within } from "../platform/pause.ts";
import { SECOND_MS } from "../platform/time.ts";
import { sharedWhileRunning } from "./shared-while-running.ts";

/** Gauges whose values are read from the database at each scrape. */
export type BacklogGauges = {
  count(name: string, help: string, read: () => Promise<number>): void;
  /** Seconds since the time that `read` returns. 0 for null. */
  age(name: string, help: string, read: (now: Date) => Promise<Date | null>): void;
  labeled(name: string, help: string, label: string, read: () => Promise<Map<string, number>>): void;
  /** Whether the scrape could read all of the others. To be added last. */
  readable(name: string, help: string): void;
};

/** Prometheus gives a scrape ten seconds, and the service promises a response within one. */
const READ_MS = 800;

/**
 * A gauge that cannot be read in time is left out, and the other metrics are still reported. A read that is late continues,
 * and the next scrape waits for it instead of starting another: a database that hangs has one read for each gauge.
 */
export function backlogGauges(
  registry: Registry,
  { clock, log }: Pick<Context, "clock" | "log">,
): BacklogGauges {
  const reads = new Set<Promise<boolean>>();
  const logFailure = atMostEvery(SECOND_MS, (err: unknown, count) =>
    log.warn({ err, count }, "metrics of the database not read"),
  );

  function add<T>(
    { name, help, labelNames = [] }: { name: string; help: string; labelNames?: string[] },
    read: () => Promise<T>,
    set: (gauge: Gauge, value: T) => void,
  ): void {
    const readOnce = sharedWhileRunning(read);
    async function collect(this: Gauge): Promise<boolean> {
      try {
        set(this, await within(READ_MS, readOnce()));
        return true;
      } catch (err) {
        // Each of them fails, or leaves a 0, for the other kind.
        if (labelNames.length > 0) this.reset();
        else this.remove();
        logFailure(err);
        return false;
      }
    }
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const done = collect.call(this);
        reads.add(done);
        await done;
        reads.delete(done);
      },
    });
  }

  return {
    count: (name, help, read) => add({ name, help }, read, (gauge, value) => gauge.set(value)),
    age: (name, help, read) =>
      add(
        { name, help: `${help}; 0 without any.` },
        async () => {
          const now = clock.now();
          return { now, since: (await read(now)) ?? now };
        },
        (gauge, { now, since }) => gauge.set(Math.max(0, now.getTime() - since.getTime()) / SECOND_MS),
      ),
    labeled: (name, help, label, read) =>
      add({ name, help, labelNames: [label] }, read, (gauge, values) => {
        gauge.reset();
        for (const [value, count] of values) gauge.set({ [label]: value }, count);
      }),
    readable: (name, help) =>
      void new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          // A scrape starts all reads before it waits for one, and this comes last.
          const outcomes = await Promise.all(reads);
          this.set(outcomes.every((read) => read) ? 1 : 0);
        },
      }),
  };
}
