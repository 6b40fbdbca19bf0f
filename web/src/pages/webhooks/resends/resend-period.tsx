import { Select, Stack, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { endOf, startOf } from "../../../text/days.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { ownerRoute } from "../owner.ts";
import type { DeliveryFilters } from "../queries.ts";

type Props = { readonly ownerId: string; readonly filters: DeliveryFilters };

const STATUSES = ["failed", "succeeded", "pending"] as const;
const DAY_MS = 86_400_000;

/** The day in the person's zone, some days ago. */
function dayAgo(days: number): string {
  const then = new Date(Date.now() - days * DAY_MS);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())}`;
}

/** Sends the deliveries of a period again. The dialog begins with the filters of the list. */
export function ResendPeriod({ ownerId, filters }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("resends.period")}
      confirm={t("resends.resend")}
      effect={t("resends.periodEffect")}
      done={t("resends.started")}
      initialValues={{
        since: filters.since ?? dayAgo(1),
        until: filters.until ?? dayAgo(0),
        status: filters.status ?? "failed",
      }}
      validate={({ since, until }) => ({
        ...(since === "" && { since: t("ui.required") }),
        ...(until === "" && { until: t("ui.required") }),
      })}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput
            type="date"
            label={t("resends.since")}
            description={t("resends.periodHelp")}
            {...form.getInputProps("since")}
          />
          <TextInput type="date" label={t("resends.until")} {...form.getInputProps("until")} />
          <Select
            label={t("resends.status")}
            data={STATUSES.map((value) => ({ value, label: t(`status.delivery.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps("status")}
          />
        </Stack>
      )}
      run={({ since, until, status }) =>
        dataOf(
          api.POST(ownerRoute(ownerId, "/resends"), {
            params: { path: { id: ownerId } },
            body: {
              since: startOf(since),
              until: endOf(until),
              status,
              ...(filters.eventType !== undefined && { eventType: filters.eventType as never }),
              ...(filters.endpointId !== undefined && { endpointId: filters.endpointId }),
            },
          }),
        )
      }
    />
  );
}
