import { NumberInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { ConfirmAction } from "./confirm-action.tsx";

// A field for numbers has much code, and most pages have none.

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
