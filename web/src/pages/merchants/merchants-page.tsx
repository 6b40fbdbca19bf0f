import IconPlus from "icon:plus";
import { Stack, TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import { paths } from "../../paths.ts";
import { typedAmount } from "../../text/amount.ts";
import { formatLocale } from "../../text/format.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { filled } from "../../ui/form/use-api-form.ts";
import { useGo } from "../../ui/link.tsx";
import { Filters, SearchFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Money } from "../../ui/money.tsx";
import { Time } from "../../ui/time.tsx";
import { merchantsQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/merchants");

export function MerchantsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const isOperator = useHasRole("operator");
  return (
    <ListPage
      title={t("merchants.title")}
      query={merchantsQuery(search)}
      actions={isOperator && <CreateMerchant />}
      filters={
        <Filters>
          <SearchFilter label={t("merchants.search")} value={search.q} />
        </Filters>
      }
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.merchant(id)}
      empty={search.q === undefined ? t("merchants.empty") : t("merchants.emptyFiltered")}
      columns={[
        { name: t("merchants.name"), cell: ({ name }) => name, isLong: true },
        {
          name: t("merchants.email"),
          cell: ({ accountEmail }) => accountEmail,
          isName: true,
          drop: 2,
          phone: "below",
        },
        { name: t("merchants.currency"), cell: ({ currency }) => currency, isMinor: true },
        {
          name: t("merchants.creditLimit"),
          cell: ({ creditLimit }) =>
            creditLimit === null ? t("merchants.unlimited") : <Money of={creditLimit} />,
          align: "right",
          phone: "end",
        },
        {
          name: t("merchants.created"),
          cell: ({ createdAt }) => <Time at={createdAt} />,
          align: "right",
          isMinor: true,
        },
      ]}
    />
  );
}

/** A new merchant. Its page follows, where its first connection is made. */
function CreateMerchant() {
  const { t } = useTranslation();
  const go = useGo();
  return (
    <ConfirmAction
      label={t("merchants.create")}
      effect={t("merchants.createEffect")}
      done={t("merchants.createdDone")}
      icon={<IconPlus size={14} />}
      isPrimary
      initialValues={{ name: "", accountEmail: "", currency: "", creditLimit: "" }}
      validate={({ name, accountEmail, creditLimit, currency }) => ({
        ...(name.trim() === "" && { name: t("ui.required") }),
        ...(accountEmail.trim() === "" && { accountEmail: t("ui.required") }),
        ...(creditLimit.trim() !== "" && currency.trim() === "" && { currency: t("ui.required") }),
      })}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput label={t("merchants.name")} required data-autofocus {...form.getInputProps("name")} />
          <TextInput
            label={t("merchants.email")}
            description={t("merchants.emailHelp")}
            type="email"
            required
            {...form.getInputProps("accountEmail")}
          />
          <TextInput
            label={t("merchants.currency")}
            description={t("merchants.currencyHelp")}
            placeholder="EUR"
            maxLength={3}
            {...form.getInputProps("currency")}
          />
          <TextInput
            label={t("merchants.creditLimit")}
            description={t("merchants.creditLimitHelp")}
            inputMode="decimal"
            {...form.getInputProps("creditLimit")}
            error={form.errors["creditLimit"] ?? form.errors["creditLimit.amount"]}
          />
        </Stack>
      )}
      run={async ({ name, accountEmail, currency, creditLimit }) => {
        const code = currency.trim().toUpperCase();
        const merchant = await dataOf(
          api.POST("/api/merchants", {
            body: {
              name: name.trim(),
              accountEmail: accountEmail.trim(),
              ...filled({ currency: code }),
              ...(creditLimit.trim() !== "" && {
                creditLimit: { amount: typedAmount(creditLimit, formatLocale(), code), currency: code },
              }),
            },
          }),
        );
        await go(paths.merchant(merchant.id));
      }}
    />
  );
}
