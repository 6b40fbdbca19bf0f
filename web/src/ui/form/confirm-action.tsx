import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { FormErrors, UseFormReturnType } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { isGivenUp } from "../../api/passkeys.ts";
import { ProblemMessage } from "../problem-message.tsx";
import { Conflict } from "./conflict.tsx";
import { type Edit, useApiForm } from "./use-api-form.ts";
import { useEndedDialog } from "./use-ended-dialog.ts";
import { useFocusAfterRemoval } from "./use-focus-after-removal.ts";

type Props<Values extends object> = {
  readonly label: string;
  /** What happens, in a sentence or two; it can depend on the fields. */
  readonly effect: ReactNode | ((values: Values) => ReactNode);
  /** The text of the button that does it. Default: the label. */
  readonly confirm?: string;
  /** Something ends or is lost. */
  readonly isDanger?: boolean;
  /** The action that most people want here. */
  readonly isPrimary?: boolean;
  readonly icon?: ReactNode;
  /** What is announced afterwards. Absent: nothing, because something follows. */
  readonly done?: string;
  readonly initialValues?: Values;
  readonly validate?: (values: Values) => FormErrors;
  /** Fields of the dialog, if it needs any. */
  readonly fields?: (form: UseFormReturnType<Values>) => ReactNode;
  /** Version of what the fields replace as a whole, as the page has it now. */
  readonly version?: string;
  /** What they replace, as the page has it now: shown if another person has changed it. */
  readonly present?: ReactNode;
  readonly run: (values: Values, edit: Edit<Values>) => Promise<unknown>;
};

/**
 * A button that says what it will do before it does it. A button with another label is another action, also in the same place:
 * the dialog of the first one ends, and never becomes that of its opposite (docs/design/console.md, "Dialogs").
 */
export const ConfirmAction = <Values extends object = object>(props: Props<Values>) => (
  <Action key={props.label} {...props} />
);

function Action<Values extends object>(props: Props<Values>) {
  const { label, icon, isDanger = false, isPrimary = false } = props;
  const { t } = useTranslation();
  const [isOpen, { open, close }] = useDisclosure(false);
  const button = useFocusAfterRemoval(isOpen);
  return (
    <>
      <Button
        ref={button}
        size="xs"
        variant={isPrimary ? "filled" : "default"}
        leftSection={icon}
        aria-haspopup="dialog"
        onClick={open}
        {...(isDanger && !isPrimary && { color: "red", c: "var(--mantine-color-error)" })}
      >
        {label}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={label}
        size="md"
        centered
        closeButtonProps={{ "aria-label": t("ui.close") }}
      >
        {isOpen && <Question {...props} button={button} close={close} />}
      </Modal>
    </>
  );
}

type QuestionProps<Values extends object> = Props<Values> & {
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly close: () => void;
};

/** Mounted when the dialog opens, so that each opening begins with fresh fields. */
function Question<Values extends object>(props: QuestionProps<Values>) {
  const {
    label,
    effect,
    confirm = label,
    isDanger = false,
    done,
    fields,
    run,
    validate,
    version,
    close,
  } = props;
  const { t } = useTranslation();
  const { form, submit, problem, isPending, hasConflict } = useApiForm<Values>({
    initialValues: props.initialValues ?? ({} as Values), // Without fields there are no values.
    run,
    ...(done !== undefined && { done }),
    onDone: close,
    ...(validate && { validate }),
    ...(version !== undefined && { version }),
  });
  const submitButton = useFocusAfterProblem(problem);
  useEndedDialog({ label, button: props.button, isSending: isPending });
  const shown = typeof effect === "function" ? effect(form.values) : effect;
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        {typeof shown === "string" ? <Text size="sm">{shown}</Text> : shown}
        {fields?.(form)}
        {problem !== null && !isGivenUp(problem) && <ProblemMessage error={problem} />}
        {hasConflict && <Conflict>{props.present}</Conflict>}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" size="sm" onClick={close}>
            {t("ui.back")}
          </Button>
          <Button
            ref={submitButton}
            type="submit"
            size="sm"
            loading={isPending}
            {...(isDanger && { color: "red.8" })}
            // Its presence counts, not its value. A dialog with fields does not begin at the button that ends it.
            {...(fields === undefined && { "data-autofocus": true })}
          >
            {confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** A browser takes the focus from a button that is disabled, as it is while a request is on the way. */
function useFocusAfterProblem(problem: Error | null): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (problem !== null && document.activeElement === document.body) button.current?.focus();
  }, [problem]);
  return button;
}
