import { Checkbox, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useTranslation } from "react-i18next";

export type CodeValues = { code: string; isBackupCode: boolean };

export const noCode: CodeValues = { code: "", isBackupCode: false };

/** A code of the person's device, or one of its backup codes. */
export function CodeFields({ form }: { form: UseFormReturnType<CodeValues> }) {
  const { t } = useTranslation();
  return (
    <>
      <TextInput
        label={t("signIn.code")}
        autoComplete="one-time-code"
        inputMode={form.values.isBackupCode ? "text" : "numeric"}
        data-autofocus
        autoFocus
        {...form.getInputProps("code")}
      />
      <Checkbox
        label={t("signIn.backupCode")}
        {...form.getInputProps("isBackupCode", { type: "checkbox" })}
      />
    </>
  );
}
