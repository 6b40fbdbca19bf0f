import { onMounted, reactive, ref, shallowRef } from "vue";
import { findDemo, sendToDemo, type TriedResponse } from "./demo.ts";
import { firstBody, firstValue, pathOf, rememberIds } from "./fields.ts";

/** A route of the API, as the Markdown of its page describes it. */
export type TriedRoute = {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  /** Names of parameters, with commas between them. */
  readonly query: string;
  /** Whether the route reads `Idempotency-Key`. */
  readonly idempotent: boolean;
  /** JSON; empty if the route has no body. */
  readonly example: string;
};

export const IDEMPOTENCY_KEY = "Idempotency-Key";

export const parametersOf = ({ path, query }: TriedRoute) => ({
  inPath: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name),
  inQuery: query.split(",").filter(Boolean),
});

/** What a person enters to try a route, and what came back. */
export function useTrial(route: TriedRoute) {
  const { inPath, inQuery } = parametersOf(route);
  let productId: string | null = null;
  const canTry = ref(false);
  const isOpen = ref(false);
  const isSending = ref(false);
  const entered = reactive({ key: "", body: "", values: {} as Record<string, string> }); // Filled by name.
  const response = shallowRef<TriedResponse | null>(null);
  const failure = ref("");

  onMounted(async () => {
    const demo = await findDemo();
    entered.key = demo.key ?? "";
    productId = demo.productId;
    canTry.value = demo.key !== null;
  });

  function open(): void {
    for (const name of inPath) entered.values[name] ||= firstValue(name, productId);
    if (route.example !== "") entered.body ||= firstBody(route.operation, route.example, productId);
    isOpen.value = true;
  }

  async function send(event: Event): Promise<void> {
    event.preventDefault();
    isSending.value = true;
    failure.value = "";
    const idempotencyKey = entered.values[IDEMPOTENCY_KEY];
    try {
      response.value = await sendToDemo({
        method: route.method,
        path: pathOf(route.path, entered.values, inQuery),
        key: entered.key.trim(),
        ...(idempotencyKey && { idempotencyKey }),
        ...(entered.body !== "" && { body: entered.body }),
      });
      rememberIds(response.value.body);
    } catch (error) {
      response.value = null;
      failure.value = (error as Error).message; // `sendToDemo` throws nothing else.
    } finally {
      isSending.value = false;
    }
  }

  return { canTry, isOpen, isSending, entered, response, failure, open, send };
}
