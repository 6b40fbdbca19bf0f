import { activateEndpoints, addBacklog, addEndpoints, countDeliveries, emptyWebhooks } from "./backlog.ts";
import { createOrders, creation } from "./loads.ts";
import {
  arrivedCount,
  forget,
  runBareSender,
  type Started,
  startWebhookReceiver,
  stats,
  stop,
} from "./processes.ts";
import { type Figure, median, quantiles } from "./report.ts";
import { addPartners, emptyOrders, type Site } from "./site.ts";

const ENDPOINTS = 100;
/** Those of a backlog that has several. */
const CONNECTIONS = 10;
const BACKLOG_RATIO_MIN = 0.6;
/** Concurrency of the bare loop. A higher one makes it no faster. */
const BARE_CONCURRENCY = 128;
const BODY = JSON.stringify({
  type: "order.created",
  timestamp: new Date().toISOString(),
  filling: "x".repeat(820),
});

/** From an event to the receiver, at 100 orders a second. */
const EVENT_P99_MAX_MS = 25;

type Options = { rounds: number; deliveries: number; say: (text: string) => void };

/** Sending: a backlog against a bare loop, slow responses, creation at the same time, endpoints that never respond, and latency. */
export async function measureWebhooks(site: Site, options: Options): Promise<Figure[]> {
  const [receiver, slow] = [await startWebhookReceiver(), await startWebhookReceiver(100, 1_000)];
  try {
    return [
      ...(await measureBacklog(site, receiver, slow, options)),
      ...(await measureBesideCreation(site, receiver, options)),
      ...(await measureDelays(site, receiver, options)),
      await measureDeadEndpoints(site, receiver, options),
    ];
  } finally {
    await Promise.all([stop(receiver), stop(slow)]);
  }
}

/**
 * The same receiver by another name: to the dispatcher another host, and it limits the requests to each
 * (docs/design/deliveries.md, "Shared sending").
 */
const byOtherName = (url: string): string => url.replace("127.0.0.1", "localhost");

/**
 * Sends a whole backlog; returns deliveries per second. Every delivery must arrive and be recorded.
 * @param owners the connections that share the endpoints
 */
async function drain(
  site: Site,
  receiver: Started,
  deliveries: number,
  urlOf: (index: number) => string = () => receiver.url,
  owners: readonly Site[] = [site],
): Promise<number> {
  await forget(receiver);
  await emptyOrders(site);
  await emptyWebhooks(site);
  const urls = Array.from(
    { length: ENDPOINTS / owners.length },
    (_, index) => `${urlOf(index)}/hooks/${index}`,
  );
  for (const owner of owners) {
    await addEndpoints(owner, urls);
    await addBacklog(owner, deliveries / ENDPOINTS, BODY);
  }
  const startedAt = performance.now();
  await activateEndpoints(site);
  while ((await arrivedCount(receiver)) < deliveries) await pause(50); // Costs the database nothing.
  await allSent(site);
  const seconds = (performance.now() - startedAt) / 1_000;
  const { count } = await stats(receiver);
  const { delivered } = await countDeliveries(site);
  if (count !== deliveries || delivered !== deliveries)
    throw new Error(`Of ${deliveries} deliveries ${count} arrived, and ${delivered} are recorded.`);
  return deliveries / seconds;
}

async function allSent(site: Site): Promise<void> {
  while ((await countDeliveries(site)).due > 0) await pause(100);
}

async function measureBacklog(
  site: Site,
  receiver: Started,
  slow: Started,
  options: Options,
): Promise<Figure[]> {
  const { rounds, deliveries, say } = options;
  const seen = { bare: [] as number[], ours: [] as number[], many: [] as number[], slow: [] as number[] };
  const owners = (await addPartners(site, CONNECTIONS)).map((partner) => ({ ...site, partner }));
  for (let round = 0; round <= rounds; round += 1) {
    const amount = round === 0 ? deliveries / 10 : deliveries; // Round 0 warms up and is not counted.
    const bare = await runBareSender(`${receiver.url}/hooks`, amount, BARE_CONCURRENCY, BODY);
    const ours = await drain(site, receiver, amount);
    const many = await drain(site, receiver, amount, undefined, owners);
    // Of one host, the slow responses alone would be more than the requests that it may have in flight.
    const withSlow = await drain(site, slow, amount, (index) =>
      index % 2 === 0 ? slow.url : byOtherName(slow.url),
    );
    say(`  webhooks ${round}: ${[bare, ours, many, withSlow].map(Math.round).join(" / ")}`);
    if (round === 0) continue;
    seen.bare.push(bare);
    seen.ours.push(ours);
    seen.many.push(many);
    seen.slow.push(withSlow);
  }
  const ratio = (ours: number[], theirs: number[]) =>
    median(ours.map((speed, round) => speed / (theirs[round] ?? Number.NaN)));
  return [
    {
      name: `send a backlog of ${deliveries.toLocaleString("en")}, against a bare loop`,
      perSecond: median(seen.ours),
      referencePerSecond: median(seen.bare),
      ratio: ratio(seen.ours, seen.bare),
      ratioMin: BACKLOG_RATIO_MIN,
    },
    {
      name: `the same of ${CONNECTIONS} connections`,
      perSecond: median(seen.many),
      referencePerSecond: median(seen.bare),
      ratio: ratio(seen.many, seen.bare),
      ratioMin: BACKLOG_RATIO_MIN,
    },
    {
      name: "the same when one response in a hundred takes a second",
      perSecond: median(seen.slow),
      referencePerSecond: median(seen.ours),
      ratio: ratio(seen.slow, seen.ours),
      ratioMin: 0.8,
    },
  ];
}

/** Orders at half the top speed, each with a delivery. All of them must be sent, and creation must not slow down. */
async function measureBesideCreation(site: Site, receiver: Started, { say }: Options): Promise<Figure[]> {
  await emptyOrders(site);
  await emptyWebhooks(site);
  const top = (await createOrders(site, { seconds: 5 })).perSecond;
  const perSecond = Math.round(top / 2);
  const without = (await createOrders(site, { seconds: 8, perSecond })).perSecond;
  await emptyOrders(site);
  await addEndpoints(site, [`${receiver.url}/hooks/beside`]);
  await activateEndpoints(site);
  await forget(receiver);
  const backlogs: number[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      backlogs.push((await countDeliveries(site)).due);
      await pause(500);
    }
  })();
  const withWebhooks = await createOrders(site, { seconds: 8, perSecond });
  isOver = true;
  await watching;
  await allSent(site);
  const { delays } = await stats(receiver);
  say(`  beside creation: ${Math.round(without)} / ${Math.round(withWebhooks.perSecond)}`);
  return [
    {
      name: "create at half the top speed with webhooks, against without",
      perSecond: withWebhooks.perSecond,
      referencePerSecond: without,
      ratio: withWebhooks.perSecond / without,
      ratioMin: 0.8,
      note: `backlog at most ${Math.max(...backlogs)}, ${delays.length} arrived`,
    },
    { name: "event to the receiver during the load", ...quantiles(delays) },
  ];
}

async function measureDelays(site: Site, receiver: Started, { say }: Options): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const rate of [1, 100, 1_000]) {
    await emptyOrders(site);
    await emptyWebhooks(site);
    await addEndpoints(site, [`${receiver.url}/hooks/delay`]);
    await activateEndpoints(site);
    await forget(receiver);
    const { perSecond } = await createOrders(site, { seconds: 10, perSecond: rate });
    await allSent(site);
    const { delays } = await stats(receiver);
    say(`  ${rate} orders a second: ${delays.length} arrived`);
    figures.push({
      name: `event to the receiver at ${rate} orders a second`,
      perSecond,
      ...quantiles(delays),
      ...(rate === 100 && { p99MaxMs: EVENT_P99_MAX_MS }),
    });
  }
  return figures;
}

/** 10 000 endpoints of 50 connections: first all respond, then the half on another host accepts requests and never responds. */
async function measureDeadEndpoints(site: Site, receiver: Started, { say }: Options): Promise<Figure> {
  const partners = await addPartners(site, 50);
  const perConnection = 200;
  const run = async (isDead: (index: number) => boolean): Promise<number[]> => {
    await emptyOrders(site);
    await emptyWebhooks(site);
    const sites = partners.map((partner) => ({ ...site, partner }));
    for (const own of sites)
      await addEndpoints(
        own,
        Array.from({ length: perConnection }, (_, index) =>
          isDead(index) ? `${byOtherName(receiver.url)}/dead/${index}` : `${receiver.url}/hooks/${index}`,
        ),
      );
    await activateEndpoints(site);
    await forget(receiver);
    const living = Array.from({ length: perConnection }, (_, index) => index).filter(
      (index) => !isDead(index),
    ).length;
    for (let round = 1; round <= 3; round += 1) {
      for (const own of sites) await placeOne(own);
      while ((await stats(receiver)).count < round * living * sites.length) await pause(50);
    }
    return (await stats(receiver)).delays;
  };
  const alive = quantiles(await run(() => false));
  const halfDead = quantiles(await run((index) => index % 2 === 1));
  say(`  dead endpoints: ${alive.p50Ms} ms / ${halfDead.p50Ms} ms`);
  return {
    name: "10 000 endpoints, half of them dead: delay of the living ones without, against with",
    ratio: alive.p50Ms / halfDead.p50Ms,
    ratioMin: 0.5,
    ...halfDead,
    note: `without dead ones p50 ${Math.round(alive.p50Ms)} ms, p99 ${Math.round(alive.p99Ms)} ms`,
  };
}

/** One order of a partner. */
async function placeOne(site: Site): Promise<void> {
  const { headers, bodyTemplate = "", url } = creation(site);
  const id = `one-${Math.random()}`;
  const answer = await fetch(url, { method: "POST", headers, body: bodyTemplate.replace("{id}", id) });
  if (answer.status !== 201) throw new Error(`A creation returned ${answer.status}.`);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
