import IconCashBanknote from "icon:cash-banknote";
import { Checkbox, Stack, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Merchant } from "../../api/schema.d.ts";
import { fieldAmount, typedAmount } from "../../text/amount.ts";
import { formatLocale } from "../../text/format.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { filled } from "../../ui/form/use-api-form.ts";

type Props = {
  readonly merchant: Pick<Merchant, "id" | "name" | "currency" | "creditLimit">;
  readonly isPrimary?: boolean;
};

/** Money that arrived at the bank. The service records a reference once, so that a second click books nothing. */
export function RecordPayment({ merchant: { id, currency, name }, isPrimary = false }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("money.record")}
      effect={t("money.recordEffect", { name })}
      done={t("money.recorded")}
      icon={<IconCashBanknote size={14} />}
      isPrimary={isPrimary}
      initialValues={{ amount: "", reference: "", note: "" }}
      validate={({ amount, reference }) => ({
        ...(amount.trim() === "" && { amount: t("ui.required") }),
        ...(reference.trim() === "" && { reference: t("ui.required") }),
      })}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput
            label={t("money.amount")}
            description={t("money.amountHelp")}
            inputMode="decimal"
            required
            data-autofocus
            rightSection={currency}
            rightSectionWidth={52}
            {...form.getInputProps("amount")}
            error={form.errors["amount"] ?? form.errors["amount.amount"]}
          />
          <TextInput
            label={t("money.reference")}
            description={t("money.referenceHelp")}
            required
            {...form.getInputProps("reference")}
          />
          <TextInput label={t("money.note")} {...form.getInputProps("note")} />
        </Stack>
      )}
      run={({ amount, reference, note }) =>
        dataOf(
          api.POST("/api/merchants/{id}/account/payments", {
            params: { path: { id } },
            body: {
              amount: { amount: typedAmount(amount, formatLocale(), currency), currency },
              reference: reference.trim(),
              ...filled({ note }),
            },
          }),
        )
      }
    />
  );
}

/** How much the merchant may owe. That there is no limit is a choice of its own: an empty field is an error. */
export function ChangeCreditLimit({ merchant, isPrimary = false }: Props) {
  const { t } = useTranslation();
  const { id, name, currency, creditLimit } = merchant;
  return (
    <ConfirmAction
      label={t("money.changeLimit")}
      effect={t("money.changeLimitEffect", { name })}
      done={t("money.limitChanged")}
      isPrimary={isPrimary}
      initialValues={{
        creditLimit:
          creditLimit === null ? "" : fieldAmount(creditLimit.amount, formatLocale(), creditLimit.currency),
        isUnlimited: creditLimit === null,
      }}
      validate={({ creditLimit: typed, isUnlimited }) =>
        !isUnlimited && typed.trim() === "" ? { creditLimit: t("ui.required") } : {}
      }
      fields={(form) => (
        <Stack gap="sm">
          <TextInput
            label={t("money.creditLimit")}
            inputMode="decimal"
            required={!form.values.isUnlimited}
            disabled={form.values.isUnlimited}
            data-autofocus
            rightSection={currency}
            rightSectionWidth={52}
            {...form.getInputProps("creditLimit")}
            error={form.errors["creditLimit"] ?? form.errors["creditLimit.amount"]}
          />
          <Checkbox label={t("money.noLimit")} {...form.getInputProps("isUnlimited", { type: "checkbox" })} />
        </Stack>
      )}
      run={({ creditLimit: typed, isUnlimited }) =>
        dataOf(
          api.PATCH("/api/merchants/{id}", {
            params: { path: { id } },
            body: {
              creditLimit: isUnlimited
                ? null
                : { amount: typedAmount(typed, formatLocale(), currency), currency },
            },
          }),
        )
      }
    />
  );
}

type RetryAllProps = { readonly merchantId: string; readonly count: number };

/** Attempts all declined payments of a merchant again. */
export function RetryAll({ merchantId, count }: RetryAllProps) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("money.retryAll", { count })}
      effect={t("money.retryAllEffect")}
      done={t("money.retryingAll")}
      run={() =>
        dataOf(api.POST("/api/merchants/{id}/retry-payments", { params: { path: { id: merchantId } } }))
      }
    />
  );
}
