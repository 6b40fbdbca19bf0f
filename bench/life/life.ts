import { Agent } from "undici";
import { countDeliveries } from "../backlog.ts";
import { createOrders, orderTemplate } from "../loads.ts";
import { countJobs } from "../order-jobs.ts";
import { forget, type Started, startWebhookReceiver, stats, stop } from "../processes.ts";
import { type Figure, quantiles } from "../report.ts";
import { addFacility, closeSite, openSite, type Postgres, type Site } from "../site.ts";
import { request } from "../steady-load.ts";
import { readProcessorTimes } from "./processor-times.ts";
import { addEndpoint, completeOrder, countUnsentMails, eachOf, readReadyOrders, shipOrder } from "./staff.ts";

type Options = {
  seconds: number;
  /** Orders that one stage may have or wait for: enough for each of them to work in full batches. */
  open: number;
  say: (text: string) => void;
};

/** Orders are created evenly: a share of what the backlogs allow at each tick. */
const TICK_MS = 25;
const TICKS_OF_POLL = 10;
/** Connections that create orders, and requests of the staff at a time. */
const CLIENTS = 64;
const STAFF = 8;
/** Orders that the staff lists, ships and completes together: the default of the list. */
const PAGE = 50;
const CALM_PER_SECOND = 100;
const CALM_P99_MAX_MS = 25;
const FRESH_P99_MAX_MS = 1_000;

/**
 * Orders a second over their whole life, in a closed loop: an order is created when the slowest stage is through with another,
 * so every stage works at once, and no backlog grows. Without staff, orders are accepted, routed, charged twice, and the event
 * of their creation is delivered; in a whole life they are shipped and completed as well. Then the way of an event to the
 * receiver beside all jobs, in calm and while orders are created as fast as possible.
 */
export async function measureLife(postgres: Postgres, { seconds, open, say }: Options): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const isWhole of [false, true]) {
    const site = await openSite(postgres, isWhole ? "bench_whole_life" : "bench_life", {
      ACCEPTANCE_WINDOW_SECONDS: "1",
    });
    const receiver = await startWebhookReceiver();
    await addFacility(site);
    await addEndpoint(site, `${receiver.url}/hooks`);
    const life = new Life(site, isWhole, open);
    // From then on all stages work at once.
    while (life.through(await readBacklogs(site)) < open) await life.during(500);
    const figure = await measureSustained(postgres, life, receiver, seconds);
    say(`  ${figure.name}: ${Math.round(figure.perSecond ?? 0)}; ${figure.note}`);
    figures.push(figure);
    await life.finish();
    if (!isWhole) figures.push(...(await measureDelays(site, receiver, seconds)));
    await Promise.all([closeSite(site), stop(receiver)]);
  }
  return figures;
}

async function measureSustained(
  postgres: Postgres,
  life: Life,
  receiver: Started,
  seconds: number,
): Promise<Figure> {
  await forget(receiver);
  const startedAt = performance.now();
  const before = await readState(postgres, life, receiver);
  await life.during(1_000 * seconds);
  const after = await readState(postgres, life, receiver);
  const elapsed = (performance.now() - startedAt) / 1_000;
  const orders = after.through - before.through;
  const micros = (name: "service" | "postgres" | "rest"): number =>
    Math.round((after.times[name] - before.times[name]) / orders);
  const { delays } = await stats(receiver);
  return {
    name: life.isWhole ? "orders over their whole life" : "orders without staff",
    perSecond: orders / elapsed,
    ...quantiles(delays),
    note: [
      `an order: ${micros("service")} µs of the service, ${micros("postgres")} of PostgreSQL, ${micros("rest")} of generator and receiver;`,
      `${((after.logBytes - before.logBytes) / orders / 1_000).toFixed(1)} kB of log,`,
      `${((after.transactions - before.transactions) / orders).toFixed(1)} transactions;`,
      `waiting ${textOf(before.backlogs)} at first, ${textOf(after.backlogs)} at last`,
    ].join(" "),
  };
}

const textOf = (backlogs: Backlogs): string => Object.values(backlogs).join("/");

async function readState(postgres: Postgres, life: Life, receiver: Started) {
  const backlogs = await readBacklogs(life.site);
  const [row] = await life.site.db.query<{ logBytes: number; transactions: number }>({
    name: "bench-life-state",
    text: `
      select (pg_current_wal_insert_lsn() - '0/0')::float8 as "logBytes", xact_commit::float8 as transactions
      from pg_stat_database where datname = current_database()`,
    values: [],
  });
  if (row === undefined) throw new Error("The database has statistics.");
  const children = { service: life.site.service.child.pid, receiver: receiver.child.pid };
  return {
    ...row,
    backlogs,
    through: life.through(backlogs),
    times: await readProcessorTimes(postgres, children),
  };
}

/** The way of an event to the receiver while all jobs run. */
async function measureDelays(site: Site, receiver: Started, seconds: number): Promise<Figure[]> {
  const measure = async (perSecond?: number) => {
    await forget(receiver);
    const created = await createOrders(site, { seconds, ...(perSecond !== undefined && { perSecond }) });
    while (!(await isIdle(site))) await pause(200);
    return { perSecond: created.perSecond, ...quantiles((await stats(receiver)).delays) };
  };
  return [
    {
      name: `event to the receiver at ${CALM_PER_SECOND} orders a second, beside all jobs`,
      ...(await measure(CALM_PER_SECOND)),
      p99MaxMs: CALM_P99_MAX_MS,
    },
    {
      name: "event to the receiver while orders are created as fast as possible",
      ...(await measure()),
      p99MaxMs: FRESH_P99_MAX_MS,
    },
  ];
}

type Backlogs = { unaccepted: number; unrouted: number; unpaid: number; undelivered: number };

/** What waits for each stage, by the indexes of the jobs. */
export async function readBacklogs({ db }: Pick<Site, "db">): Promise<Backlogs> {
  const [row] = await db.query<{ [name in keyof Backlogs]: number }>({
    name: "bench-life-backlogs",
    text: `
      select (select count(*) from orders where status = 'NEW' and not test_mode
                and not (hold_reasons @> '{payment_failed}'))::integer as unaccepted,
             (select count(*) from orders where status = 'ACCEPTED' and not test_mode and routed_at is null
                and not (hold_reasons && '{payment_failed,out_of_stock,address_unserviceable}'))::integer as unrouted,
             (select count(*) from due_payments)::integer as unpaid,
             (select count(*) from due_deliveries)::integer as undelivered`,
    values: [],
  });
  if (row === undefined) throw new Error("A count has a row.");
  return row;
}

async function isIdle(site: Site): Promise<boolean> {
  const backlogs = await readBacklogs(site);
  return Object.values(backlogs).every((count) => count === 0) && (await countUnsentMails(site)) === 0;
}

/** Partners that create orders of a site and, for a whole life, the warehouse. */
class Life {
  readonly site: Site;
  readonly isWhole: boolean;
  readonly #open: number;
  readonly #agent: Agent;
  readonly #running: Promise<unknown>;
  #created = 0;
  #completed = 0;
  #isOver = false;

  constructor(site: Site, isWhole: boolean, open: number) {
    this.site = site;
    this.isWhole = isWhole;
    this.#open = open;
    this.#agent = new Agent({ connections: CLIENTS, pipelining: 1 });
    this.#running = Promise.all([this.#create(), ...(isWhole ? [this.#work()] : [])]);
  }

  /** Resolves after this time, and rejects if a request fails. */
  during = (ms: number): Promise<unknown> => Promise.race([this.#running, pause(ms)]);

  /** Orders that have passed the slowest stage. */
  through({ unaccepted, unrouted, unpaid, undelivered }: Backlogs): number {
    const passed = this.#created - Math.max(unaccepted + unrouted, unpaid / 2, undelivered);
    return this.isWhole ? Math.min(passed, this.#completed) : passed;
  }

  /** Ends the creations. Everything that was created passes through all stages, and is counted. */
  async finish(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    await this.#agent.close();
    while (!(await isIdle(this.site))) await pause(200);
    const { orders, accepted, paid } = await countJobs(this.site);
    const { delivered } = await countDeliveries(this.site);
    const [created, completed] = [this.#created, this.isWhole ? this.#completed : orders];
    const events = this.isWhole ? 3 : 1;
    if ([created, completed, accepted, paid / 2, delivered / events].some((count) => count !== orders))
      throw new Error(
        `${orders} of ${created} orders are stored, ${accepted} accepted and ${completed} completed, with ${paid} charges and ${delivered} deliveries.`,
      );
  }

  async #create(): Promise<void> {
    const { service, partner } = this.site;
    const headers = { authorization: `Bearer ${partner.key}`, "content-type": "application/json" };
    const template = orderTemplate(partner);
    const sent = new Set<Promise<void>>();
    const createOne = async (): Promise<void> => {
      this.#created += 1;
      const body = template.replace("{id}", `life-${this.#created}`);
      const options = { origin: service.url, method: "POST", path: "/v1/orders", headers, body } as const;
      const status = await request(this.#agent, options);
      if (status !== 201) throw new Error(`A creation returned ${status}.`);
    };
    let allowed = 0;
    for (let tick = 0; !this.#isOver; tick += 1) {
      const left = TICKS_OF_POLL - (tick % TICKS_OF_POLL);
      if (left === TICKS_OF_POLL) {
        await Promise.all(sent);
        sent.clear();
        allowed = this.#open - (this.#created - this.through(await readBacklogs(this.site)));
      }
      const share = Math.max(0, Math.ceil(allowed / left));
      for (let index = 0; index < share; index += 1) sent.add(createOne());
      allowed -= share;
      await pause(TICK_MS);
    }
    await Promise.all(sent);
  }

  /** Ships a page of orders, the oldest first, and completes them after the next page has shipped. */
  async #work(): Promise<void> {
    let shipped: string[] = [];
    for (;;) {
      const { unaccepted, unrouted } = await readBacklogs(this.site);
      const ready = await readReadyOrders(this.site, PAGE);
      await eachOf(ready, STAFF, (id) => shipOrder(this.site, id));
      await eachOf(shipped, STAFF, async (id) => {
        await completeOrder(this.site, id);
        this.#completed += 1;
      });
      if (this.#isOver && unaccepted + unrouted + ready.length + shipped.length === 0) return;
      if (ready.length === 0) await pause(TICK_MS);
      shipped = ready;
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
