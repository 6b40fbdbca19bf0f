import IconPlus from "icon:plus";
import { Group, Stack, TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useMe } from "../../api/me.ts";
import { paths } from "../../paths.ts";
import { countryName } from "../../text/format.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Filters, FlagFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { facilitiesQuery, worksEverywhere } from "./queries.ts";

const route = getRouteApi("/signed-in/facilities");

export function FacilitiesPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const me = useMe();
  return (
    <ListPage
      title={t("facilities.title")}
      actions={worksEverywhere(me) && <CreateFacility />}
      filters={
        <Filters>
          <FlagFilter
            label={t("facilities.state")}
            name="closed"
            value={search.closed}
            yes={t("facilities.closed")}
            no={t("facilities.open")}
          />
        </Filters>
      }
      query={facilitiesQuery(search)}
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.facility(id)}
      empty={search.closed === undefined ? t("facilities.empty") : t("facilities.emptyFiltered")}
      columns={[
        { name: t("facilities.name"), cell: ({ name }) => name, isLong: true },
        {
          name: t("facilities.country"),
          cell: ({ countryCode }) => countryName(countryCode),
          isName: true,
          phone: "below",
        },
        {
          name: t("facilities.state"),
          phone: "beside",
          cell: ({ closedAt }) =>
            closedAt === null ? (
              <Pill tone="success">{t("facilities.open")}</Pill>
            ) : (
              <Pill>{t("facilities.closed")}</Pill>
            ),
        },
        {
          name: t("facilities.see"),
          cell: ({ id }) => (
            <Group gap="sm">
              <TextLink to={paths.stockList(id)}>{t("stock.title")}</TextLink>
              <TextLink to={paths.work({ facilityId: id })}>{t("work.title")}</TextLink>
            </Group>
          ),
        },
      ]}
    />
  );
}

function CreateFacility() {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("facilities.create")}
      effect={t("facilities.createEffect")}
      done={t("facilities.created")}
      isPrimary
      icon={<IconPlus size={14} />}
      initialValues={{ name: "", countryCode: "" }}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput
            label={t("facilities.name")}
            maxLength={255}
            required
            data-autofocus
            {...form.getInputProps("name")}
          />
          <TextInput
            label={t("address.countryCode")}
            description={t("facilities.countryHelp")}
            maxLength={2}
            required
            {...form.getInputProps("countryCode")}
          />
        </Stack>
      )}
      run={({ name, countryCode }) =>
        dataOf(api.POST("/api/facilities", { body: { name: name.trim(), countryCode: countryCode.trim() } }))
      }
    />
  );
}
