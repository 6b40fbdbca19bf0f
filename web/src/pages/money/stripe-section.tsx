import { Group, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import { isProblem } from "../../api/problem.ts";
import type { StripeMethod } from "../../api/schema.d.ts";
import { Facts } from "../../ui/facts.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Section } from "../../ui/section.tsx";
import { Time } from "../../ui/time.tsx";
import { stripeQuery } from "./queries.ts";

/** How the merchant pays: by its account, or by a payment method at Stripe. */
export function StripeSection({ merchantId }: { merchantId: string }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(stripeQuery(merchantId));
  const isOperator = useHasRole("operator");
  const hasNone = isProblem(error, "not-found");
  // After a removal, the data of before is still there beside the problem.
  const method = hasNone ? undefined : data;
  return (
    <Section
      title={t("money.payment")}
      actions={isOperator && (hasNone || method !== undefined) && <Actions {...{ merchantId, method }} />}
    >
      {hasNone ? (
        <Text size="sm">{t("money.byAccount")}</Text>
      ) : error !== null ? (
        <ProblemMessage error={error} retry={() => void refetch()} />
      ) : method === undefined ? (
        <Skeleton height={70} role="status" aria-label={t("ui.loading")} />
      ) : (
        <Stack gap="sm">
          <Text size="sm">{t("money.byStripe")}</Text>
          <Facts
            of={[
              [t("money.customer"), method.customerId],
              [t("money.method"), method.paymentMethodId],
              [t("money.methodSince"), <Time key="since" at={method.createdAt} />],
            ]}
          />
        </Stack>
      )}
    </Section>
  );
}

type ActionsProps = { readonly merchantId: string; readonly method: StripeMethod | undefined };

function Actions({ merchantId, method }: ActionsProps) {
  const { t } = useTranslation();
  const params = { path: { id: merchantId } };
  return (
    <Group gap={6}>
      <ConfirmAction
        label={t(method === undefined ? "money.setStripe" : "money.replaceStripe")}
        effect={t("money.setStripeEffect")}
        done={t("money.stripeSet")}
        initialValues={{ customerId: method?.customerId ?? "", paymentMethodId: "" }}
        validate={({ customerId, paymentMethodId }) => ({
          ...(customerId.trim() === "" && { customerId: t("ui.required") }),
          ...(paymentMethodId.trim() === "" && { paymentMethodId: t("ui.required") }),
        })}
        fields={(form) => (
          <Stack gap="sm">
            <TextInput
              label={t("money.customer")}
              placeholder="cus_…"
              required
              data-autofocus
              {...form.getInputProps("customerId")}
            />
            <TextInput
              label={t("money.method")}
              placeholder="pm_…"
              required
              {...form.getInputProps("paymentMethodId")}
            />
          </Stack>
        )}
        run={({ customerId, paymentMethodId }) =>
          dataOf(
            api.PUT("/api/merchants/{id}/stripe", {
              params,
              body: { customerId: customerId.trim(), paymentMethodId: paymentMethodId.trim() },
            }),
          )
        }
      />
      {method !== undefined && (
        <ConfirmAction
          label={t("money.removeStripe")}
          effect={t("money.removeStripeEffect")}
          done={t("money.stripeRemoved")}
          isDanger
          run={() => dataOf(api.DELETE("/api/merchants/{id}/stripe", { params }))}
        />
      )}
    </Group>
  );
}
