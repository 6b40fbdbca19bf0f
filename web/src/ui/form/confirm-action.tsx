import { Button, Group, Modal, NumberInput, Stack, Text } from "@mantine/core";
import type { FormErrors, UseFormReturnType } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { type ReactNode, type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { isGivenUp } from "../../api/passkeys.ts";
import { useAnnounce } from "../announce.ts";
import { focusHeading } from "../page.tsx";
import { ProblemMessage } from "../problem-message.tsx";
import { Conflict } from "./conflict.tsx";
import { type Edit, useApiForm } from "./use-api-form.ts";

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

/**
 * A button that says what it will do before it does it. A button with another label is another action, also in the same place:
 * the dialog of the first one ends, and never becomes that of its opposite (docs/design/console.md, "Dialogs").
 */
export const ConfirmAction = <Values extends object = object>(props: Props<Values>) => (
  <Action key={props.label} {...props} />
);

function Action<Values extends object>(props: Props<Values>) {
  const { label, icon, shortcut, isDanger = false, isPrimary = false } = props;
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
        aria-keyshortcuts={shortcut}
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

/** The service's limits for the overlap of keys, tokens and signing secrets. */
const OVERLAP_HOURS_MAX = 168;
const OVERLAP_HOURS_DEFAULT = 24;

type RotateActionProps = {
  readonly label: string;
  /** What happens, in a sentence or two. */
  readonly effect: string;
  readonly done: string;
  /** The field for the hours in which the old one still works. */
  readonly overlap: { readonly label: string; readonly help: string };
  readonly run: (overlapHours: number) => Promise<unknown>;
};

/** Replaces a key, a token or a secret. An empty field is an error, because 0 ends the old one at once. */
export function RotateAction({ overlap, run, ...texts }: RotateActionProps) {
  const { t } = useTranslation();
  return (
    <ConfirmAction<{ overlapHours: number | string }>
      {...texts}
      initialValues={{ overlapHours: OVERLAP_HOURS_DEFAULT }}
      validate={({ overlapHours }) => (overlapHours === "" ? { overlapHours: t("ui.required") } : {})}
      fields={(form) => (
        <NumberInput
          label={overlap.label}
          description={overlap.help}
          min={0}
          max={OVERLAP_HOURS_MAX}
          data-autofocus
          {...form.getInputProps("overlapHours")}
        />
      )}
      run={({ overlapHours }) => run(Number(overlapHours))}
    />
  );
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

/**
 * An action may remove its own button, such as that of an order that has shipped. The browser then forgets where the person
 * was, and the next Tab is at the top of the page. The heading of the page gets the focus instead.
 * @param isOpen whether the dialog of the button is open
 */
function useFocusAfterRemoval(isOpen: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  const wasOpened = useRef(false);
  useEffect(() => {
    if (isOpen) wasOpened.current = true;
  }, [isOpen]);
  useLayoutEffect(() => {
    const opener = button.current;
    return () => {
      const focused = document.activeElement;
      // A dialog that has just closed is about to give the focus back to the button.
      const isOfDialog = focused === document.body || focused?.closest("[role=dialog]") != null;
      if (focused === opener || (wasOpened.current && isOfDialog)) focusHeading();
    };
  }, []);
  return button;
}
