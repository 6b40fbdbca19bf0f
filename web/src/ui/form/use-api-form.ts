import { type FormErrors, type UseFormReturnType, useForm } from "@mantine/form";
import { type FormEvent, type RefObject, useEffect, useRef, useState } from "react";
import { ApiProblem, isProblem } from "../../api/problem.ts";
import { useChange } from "../../api/use-change.ts";
import { explained } from "../../text/explanations.ts";

/** What the person has made of the form that opened. */
export type Edit<Values> = {
  /**
   * The values that differ from those at the opening, texts without outer spaces. A change sends no others: the page shows
   * by now what other people have changed, and the form still has what was there before.
   */
  readonly changed: Partial<Values>;
  /** The version to replace: after a conflict, the one that is shown beside the form. */
  readonly version: string;
};

type Options<Values, Output> = {
  readonly initialValues: Values;
  /** What the page itself can check; the service checks everything. */
  readonly validate?: (values: Values) => FormErrors;
  /**
   * Version of what the form replaces as a whole, as the page has it now (docs/design/api-conventions.md, "Expected versions").
   */
  readonly version?: string;
  readonly run: (values: Values, edit: Edit<Values>) => Promise<Output>;
  readonly done?: string;
  readonly onDone?: (output: Output) => void;
};

export type ApiForm<Values> = {
  readonly form: UseFormReturnType<Values>;
  readonly submit: (event?: FormEvent<HTMLFormElement>) => void;
  /** The problem of the last attempt. Null if there is none. */
  readonly problem: Error | null;
  readonly isPending: boolean;
  /** What the form replaces was changed by another person since it opened. */
  readonly hasConflict: boolean;
  reset(): void;
};

/**
 * A form whose values are sent to the API. The fields that the service rejects show its explanations. Values stay until
 * the service has accepted them, also while the person signs in again.
 */
export function useApiForm<Values extends object, Output = unknown>({
  initialValues,
  validate,
  version = "",
  run,
  done,
  onDone,
}: Options<Values, Output>): ApiForm<Values> {
  const form = useForm<Values>({ initialValues, ...(validate && { validate }) });
  const [opened] = useState({ values: initialValues, version });
  const [hasConflict, setHasConflict] = useState(false);
  const isShown = useIsShown();
  const change = useChange<Values, Output>({
    run: (values) =>
      run(values, {
        changed: changedOf(opened.values, values),
        version: hasConflict ? version : opened.version,
      }),
    ...(done !== undefined && { done }),
    ...(onDone && { onDone }),
    // A dialog can end while its request is on the way (docs/design/console.md, "Dialogs").
    showsError: () => isShown.current,
  });
  const submit = form.onSubmit(
    (values) =>
      change.mutate(values, {
        onError: (error) => {
          if (isProblem(error, "version-changed")) setHasConflict(true);
          if (error instanceof ApiProblem) form.setErrors(problemToErrors(error));
        },
      }),
    (errors) => form.getInputNode(Object.keys(errors)[0] ?? "")?.focus(),
  );
  return {
    form: form as UseFormReturnType<Values>, // Without the type of `validate`, which callers do not need.
    submit: (event) => submit(event),
    problem: change.error,
    isPending: change.isPending,
    hasConflict,
    reset: () => {
      form.setValues(initialValues);
      form.clearErrors();
      change.reset();
    },
  };
}

function useIsShown(): RefObject<boolean> {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
}

const changedOf = <Values extends object>(before: Values, after: Values): Partial<Values> => {
  const earlier = new Map<string, unknown>(Object.entries(before));
  return Object.fromEntries(
    Object.entries(after)
      .map(([name, value]) => [name, trimmed(value)] as const)
      .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(trimmed(earlier.get(name)))),
  ) as Partial<Values>; // Each value is one of the given ones, trimmed.
};

const trimmed = (value: unknown): unknown => (typeof value === "string" ? value.trim() : value);

/** The explanations of a 422 by the paths of their fields: `/lines/0/quantity` is `lines.0.quantity`. */
const problemToErrors = ({ errors }: ApiProblem): FormErrors =>
  Object.fromEntries(
    errors.flatMap((error) => {
      const { pointer, parameter } = error;
      const field = pointer === undefined ? parameter : pointer.slice(1).replaceAll("/", ".");
      return field === undefined || field === "" ? [] : [[field, explained(error)]];
    }),
  );

/** The values that were filled in: an empty text is a field that is not sent. */
export const filled = <Values extends object>(values: Values): Partial<Values> =>
  Object.fromEntries(
    Object.entries(values)
      .map(([name, value]) => [name, trimmed(value)] as const)
      .filter(([, value]) => value !== "" && value !== null && value !== undefined),
  ) as Partial<Values>; // Each value is one of the given ones, trimmed.
