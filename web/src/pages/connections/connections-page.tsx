import IconPlus from "icon:plus";
import { Stack, TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useMe } from "../../api/me.ts";
import { paths } from "../../paths.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { useGo } from "../../ui/link.tsx";
import { Filters, SearchFilter } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Time } from "../../ui/time.tsx";
import { ConnectionName } from "./end-connection.tsx";
import { connectionsQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/connections");

/** All connections that the person sees. */
export function ConnectionsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const ownMerchant = useOwnMerchant();
  return (
    <ListPage
      title={t("connections.title")}
      actions={ownMerchant !== undefined && <CreateConnection merchantId={ownMerchant} />}
      query={connectionsQuery(search)}
      filters={
        <Filters>
          <SearchFilter label={t("connections.search")} value={search.q} />
        </Filters>
      }
      rowKey={({ id }) => id}
      rowTo={({ id }) => paths.connection(id)}
      empty={
        search.q !== undefined
          ? t("connections.emptyFiltered")
          : t(ownMerchant === undefined ? "connections.emptyList" : "connections.empty")
      }
      columns={[
        {
          name: t("connections.name"),
          cell: (connection) => <ConnectionName of={connection} />,
          isLong: true,
        },
        {
          name: t("connections.merchant"),
          cell: ({ merchantName }) => merchantName,
          isName: true,
          phone: "below",
        },
        {
          name: t("connections.created"),
          cell: ({ createdAt }) => <Time at={createdAt} />,
          align: "right",
          phone: "end",
        },
      ]}
    />
  );
}

/** The merchant of a person with one. With several, connections are created on the page of each. */
function useOwnMerchant(): string | undefined {
  const { grants } = useMe();
  const [merchantId, ...others] = grants.flatMap((grant) =>
    grant.role === "merchant" ? grant.merchantIds : [],
  );
  const createsForAll = grants.some(({ role }) => role === "operator");
  return createsForAll || others.length > 0 ? undefined : merchantId;
}

export function CreateConnection({ merchantId }: { merchantId: string }) {
  const { t } = useTranslation();
  const go = useGo();
  return (
    <ConfirmAction
      label={t("connections.create")}
      effect={t("connections.createEffect")}
      done={t("connections.createdDone")}
      icon={<IconPlus size={14} />}
      isPrimary
      initialValues={{ name: "" }}
      validate={({ name }) => (name.trim() === "" ? { name: t("ui.required") } : {})}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput
            label={t("connections.name")}
            description={t("connections.nameHelp")}
            required
            data-autofocus
            {...form.getInputProps("name")}
          />
        </Stack>
      )}
      run={async ({ name }) => {
        const connection = await dataOf(
          api.POST("/api/merchants/{id}/connections", {
            params: { path: { id: merchantId } },
            body: { name: name.trim() },
          }),
        );
        await go(paths.connection(connection.id));
      }}
    />
  );
}
