import { defineComponent, h, type VNode } from "vue";
import type { TriedResponse } from "./demo.ts";
import { IDEMPOTENCY_KEY, parametersOf, type TriedRoute, useTrial } from "./trial.ts";

/** The members of a `TriedRoute`: texts, because they are attributes of Markdown. */
const PROPS = {
  operation: { type: String, required: true },
  method: { type: String, required: true },
  path: { type: String, required: true },
  query: { type: String, default: "" },
  idempotent: { type: Boolean, default: false },
  example: { type: String, default: "" },
} as const;

/** A form that sends a request to the demo which serves this site. Elsewhere it shows nothing (decision 0163). */
export const TryIt = defineComponent({
  props: PROPS,
  setup(route) {
    const trial = useTrial(route);
    return () => {
      if (!trial.canTry.value) return null;
      if (trial.isOpen.value) return formOf(route, trial);
      const label = `Try ${route.method} ${route.path}`;
      return h("button", { class: "try-open", type: "button", onClick: trial.open }, label);
    };
  },
});

type Trial = ReturnType<typeof useTrial>;

function formOf(route: TriedRoute, { entered, isSending, response, failure, send }: Trial): VNode {
  const { method, path, operation, idempotent, example } = route;
  const { inPath, inQuery } = parametersOf(route);
  const value = (name: string, isRequired: boolean) =>
    field(operation, isRequired ? name : `${name} (optional)`, (id) =>
      h("input", {
        ...plain(id, entered.values[name] ?? "", (text) => {
          entered.values[name] = text;
        }),
        required: isRequired,
      }),
    );
  const key = (id: string) =>
    plain(id, entered.key, (text) => {
      entered.key = text;
    });
  return h("form", { class: "try-form", "aria-label": `Try ${method} ${path}`, onSubmit: send }, [
    field(operation, "Test key", (id) => h("input", { ...key(id), required: true })),
    ...inPath.map((name) => value(name, true)),
    ...inQuery.map((name) => value(name, false)),
    ...(idempotent ? [value(IDEMPOTENCY_KEY, false)] : []),
    ...(example === "" ? [] : [bodyField(operation, entered)]),
    h("button", { class: "try-send", type: "submit", disabled: isSending.value }, `Send ${method} request`),
    h("div", { role: "status" }, [statusOf(response.value, failure.value)]),
    ...(response.value === null ? [] : shownResponse(response.value)),
  ]);
}

/** What the browser must not correct, complete or keep. */
const plain = (id: string, value: string, enter: (text: string) => void) => ({
  id,
  value,
  spellcheck: false,
  autocomplete: "off",
  // The event is one of an input or a textarea.
  onInput: ({ target }: Event) => enter((target as HTMLInputElement).value),
});

const bodyField = (operation: string, entered: Trial["entered"]): VNode =>
  field(operation, "Body", (id) =>
    h("textarea", {
      ...plain(id, entered.body, (text) => {
        entered.body = text;
      }),
      rows: Math.min(16, entered.body.split("\n").length),
    }),
  );

function field(operation: string, label: string, control: (id: string) => VNode): VNode {
  const id = `try-${operation}-${label.replace(/\W+/g, "-")}`;
  return h("p", { class: "try-field" }, [h("label", { for: id }, label), control(id)]);
}

function statusOf(response: TriedResponse | null, failure: string): VNode | string {
  if (failure !== "") return h("p", { class: "try-failure" }, failure);
  if (response === null) return "";
  const kind = response.status < 400 ? "try-success" : "try-failure";
  return h("p", { class: kind }, `${response.status} ${response.statusText}`);
}

function shownResponse({ headers, body }: TriedResponse): VNode[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [
    ...(body === "" ? [] : [block("Response body", formatted(body))]),
    h("details", [h("summary", "Response headers"), block("Response headers", lines.join("\n"))]),
  ];
}

const block = (label: string, text: string): VNode =>
  h("pre", { class: "try-block", tabindex: 0, role: "region", "aria-label": label }, text);

function formatted(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body; // It was cut off.
  }
}
