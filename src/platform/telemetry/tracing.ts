import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

type SpanStart = {
  readonly name: string;
  readonly kind?: keyof typeof KINDS;
  /**
   * Never bodies, keys, personal data, texts of partners, paths or query strings
   * (docs/design/dependencies.md, "OpenTelemetry").
   */
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

const scopes = new AsyncLocalStorage<Scope>();

/** Null unless traces are exported: then each function here costs a comparison. */
let tracer: Tracer | null = null;

export function setTracer(newTracer: Tracer | null): void {
  tracer = newTracer;
}

export const isTracing = (): boolean => tracer !== null;

/** The span in progress that is recorded. Null outside of spans, for those that are not sampled, and without tracing. */
export function activeSpan(): Span | null {
  if (tracer === null) return null;
  const span = scopes.getStore()?.span ?? null;
  return span?.isRecording() === true ? span : null;
}

/** Null without tracing. The caller ends it. */
export const startSpan = (span: SpanStart): Span | null => (tracer === null ? null : start(tracer, span));

const start = (
  spans: Tracer,
  { name, kind = "internal", attributes = {}, links = [], parent }: SpanStart,
): Span =>
  spans.startSpan(
    name,
    { kind: KINDS[kind], attributes, links: [...links] },
    parent === null ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent),
  );

/**
 * What caused a request, as its caller says: the span that its `traceparent` header names, unless that is invalid or
 * `OTEL_PROPAGATORS` is without it. The caller decides neither the trace's id nor whether it is sampled.
 */
export function linksTo(traceparent: string | undefined): Link[] {
  if (tracer === null || traceparent === undefined) return [];
  const context = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }));
  return context === undefined ? [] : [{ context }];
}

/** Marks a span as failed. Messages of errors contain values of rows, so a span has only the type. */
export function failSpan(span: Span, errorType: string): void {
  span.setAttribute("error.type", errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Runs `work` as a part of this span, or of none. */
export const withinSpan = <T>(span: Span | null, work: () => T): T =>
  tracer === null ? work() : scopes.run({ span, job: null, held: null }, work);

/** Runs `work` in a span of its own, which ends with it. */
export async function traced<T>(
  spanStart: SpanStart,
  work: (span: Span | null) => Promise<T>,
  errorTypeOf: (error: unknown) => string = typeOf,
): Promise<T> {
  if (tracer === null) return work(null);
  const span = start(tracer, spanStart);
  const held = spanStart.parent === null ? null : (scopes.getStore()?.held ?? null);
  try {
    return await scopes.run({ span, job: null, held }, () => work(span));
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
  tracer === null ? work() : scopes.run({ span: null, job, held: null }, work);

/**
 * A span for a batch of a job. Returns how much the batch did. One that did nothing leaves no span, nor do its statements:
 * jobs look for work every half a second.
 */
export async function tracedBatch(work: () => Promise<number>): Promise<number> {
  const name = scopes.getStore()?.job ?? null;
  if (tracer === null || name === null) return work();
  const span = start(tracer, { name, parent: null });
  const held: Held = { ends: [], isOpen: true };
  let isKept = true;
  try {
    const count = await scopes.run({ span, job: null, held }, work);
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
