import type { AsyncLocalStorage } from "node:async_hooks";
import type { Attributes, Link, Span } from "@opentelemetry/api";

type SpanStart = {
  readonly name: string;
  readonly kind?: "internal" | "server" | "client";
  /** Never bodies, keys, personal data, texts of partners, paths or query strings (decision 0106). */
  readonly attributes?: Attributes;
  /** Other spans that led to this one, and do not contain it. */
  readonly links?: readonly Link[];
  /** Null: the span begins a trace. */
  readonly parent: Span | null;
};

/** Ends of spans within a batch that is in progress. They are sent only if the batch finds work. */
type Held = { readonly ends: (() => void)[]; isOpen: boolean };

type Scope = {
  /** The span in progress. */
  readonly span: Span | null;
  /** The job whose next batch begins a trace. */
  readonly job: string | null;
  readonly held: Held | null;
};

/** A batch with so many statements has found work. */
const HELD_MAX = 100;

export type Tracer = {
  readonly scopes: AsyncLocalStorage<Scope>;
  start(span: SpanStart): Span;
  /** The span that a `traceparent` header names. None if it is invalid, or is not to be linked. */
  linksTo(traceparent: string): Link[];
  /** Marks a span as failed. Messages of errors contain values of rows, so a span has only the type. */
  fail(span: Span, errorType: string): void;
};

/** Null unless traces are exported: then each function here costs a comparison. */
let tracer: Tracer | null = null;

export function setTracer(newTracer: Tracer | null): void {
  tracer = newTracer;
}

export const isTracing = (): boolean => tracer !== null;

/** The span in progress that is recorded. Null outside of spans, for those that are not sampled, and without tracing. */
export function activeSpan(): Span | null {
  const span = tracer?.scopes.getStore()?.span ?? null;
  return span?.isRecording() === true ? span : null;
}

/** Null without tracing. The caller ends it. */
export const startSpan = (start: SpanStart): Span | null => tracer?.start(start) ?? null;

/** What caused a request, as its caller says. The caller decides neither the trace's id nor whether it is sampled. */
export const linksTo = (traceparent: string | undefined): Link[] =>
  traceparent === undefined ? [] : (tracer?.linksTo(traceparent) ?? []);

export function failSpan(span: Span, errorType: string): void {
  tracer?.fail(span, errorType);
}

/** Runs `work` as a part of this span, or of none. */
export const withinSpan = <T>(span: Span | null, work: () => T): T =>
  tracer === null ? work() : tracer.scopes.run({ span, job: null, held: null }, work);

/** Runs `work` in a span of its own, which ends with it. */
export async function traced<T>(
  start: SpanStart,
  work: (span: Span | null) => Promise<T>,
  errorTypeOf: (error: unknown) => string = typeOf,
): Promise<T> {
  if (tracer === null) return work(null);
  const span = tracer.start(start);
  const held = start.parent === null ? null : (tracer.scopes.getStore()?.held ?? null);
  try {
    return await tracer.scopes.run({ span, job: null, held }, () => work(span));
  } catch (error) {
    failSpan(span, errorTypeOf(error));
    throw error;
  } finally {
    end(span, held);
  }
}

function end(span: Span, held: Held | null): void {
  const isHeld = held?.isOpen === true && held.ends.length < HELD_MAX;
  const endedAt = performance.now();
  if (isHeld) held.ends.push(() => span.end(endedAt));
  else span.end(endedAt);
}

/** A span for work that several callers wait for. One caller contains it, several are linked with it. */
export function tracedGroup<T>(
  name: string,
  callers: readonly { readonly span: Span | null }[],
  work: () => Promise<T>,
): Promise<T> {
  if (tracer === null) return work();
  const recorded = callers.flatMap(({ span }) => span ?? []);
  const [first] = recorded;
  if (first === undefined) return withinSpan(null, work);
  const attributes = { "partner_orders.group.size": callers.length };
  if (callers.length === 1) return traced({ name, attributes, parent: first }, work);
  const links = recorded.map((span) => ({ context: span.spanContext() }));
  return traced({ name, attributes, links, parent: null }, (group) => {
    if (group !== null) for (const span of recorded) span.addLink({ context: group.spanContext() });
    return work();
  });
}

/** Batches within `work` are spans that have the name of the job. */
export const withinJob = <T>(job: string, work: () => Promise<T>): Promise<T> =>
  tracer === null ? work() : tracer.scopes.run({ span: null, job, held: null }, work);

/**
 * A span for a batch of a job. Returns how much the batch did. One that did nothing leaves no span, nor do its statements:
 * jobs look for work every half a second.
 */
export async function tracedBatch(work: () => Promise<number>): Promise<number> {
  const name = tracer?.scopes.getStore()?.job ?? null;
  if (tracer === null || name === null) return work();
  const span = tracer.start({ name, parent: null });
  const held: Held = { ends: [], isOpen: true };
  let isKept = true;
  try {
    const count = await tracer.scopes.run({ span, job: null, held }, work);
    span.setAttribute("partner_orders.batch.items", count);
    isKept = count > 0;
    return count;
  } catch (error) {
    failSpan(span, typeOf(error));
    throw error;
  } finally {
    held.isOpen = false;
    if (isKept) for (const endOne of held.ends) endOne();
    if (isKept) span.end();
  }
}

const typeOf = (error: unknown): string => (error instanceof Error ? error.name : "unknown");
