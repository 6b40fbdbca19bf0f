import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { FormErrors, UseFormReturnType } from "@mantine/form";
import { type ReactNode, type RefObject, useEffect, useEffectEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { isGivenUp } from "../../api/passkeys.ts";
import { useAnnounce } from "../announce.ts";
import { ProblemMessage } from "../problem-message.tsx";
import { Conflict } from "./conflict.tsx";
import { type Edit, useApiForm } from "./use-api-form.ts";

export type ConfirmProps<Values extends object> = {
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
  /** The letter that presses the button, where the page has one button with it. */
  readonly shortcut?: "a" | "h" | "e";
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

type DialogProps<Values extends object> = ConfirmProps<Values> & {
  /** The button that opens it. */
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly isOpen: boolean;
  readonly close: () => void;
};

/** The dialog of a `ConfirmAction`. */
export function ConfirmDialog<Values extends object>({ isOpen, ...props }: DialogProps<Values>) {
  const { t } = useTranslation();
  // A dialog that opens after it was drawn gives the focus back when it closes.
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => setDrawn(true), []);
  return (
    <Modal
      opened={isOpen && isDrawn}
      onClose={props.close}
      title={props.label}
      size="md"
      centered
      closeButtonProps={{ "aria-label": t("ui.close") }}
    >
      {isOpen && <Question {...props} />}
    </Modal>
  );
}

/** Mounted when the dialog opens, so that each opening begins with fresh fields. */
function Question<Values extends object>(props: Omit<DialogProps<Values>, "isOpen">) {
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

type Dialog = {
  readonly label: string;
  /** The button that opened it. */
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly isSending: boolean;
};

/**
 * Says why a dialog is gone if the page removed it together with its button: another person has done it, or it is no longer
 * possible (docs/design/console.md, "Dialogs"). A person who closes a dialog, or leaves its page, knows why it is gone, and the
 * outcome of what was sent is announced itself.
 */
function useEndedDialog({ label, button, isSending }: Dialog): void {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const say = useEffectEvent(() => {
    if (!isSending) announce.ended(t("ui.dialogEnded", { action: label }));
  });
  useEffect(() => {
    const opener = button.current;
    const { href } = location;
    return () => {
      if (opener?.isConnected === false && location.href === href) say();
    };
  }, [button]);
}
