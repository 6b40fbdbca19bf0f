import { TextInput } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import type { Facility } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { countryName } from "../../text/format.ts";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { ButtonLink } from "../../ui/link.tsx";
import { Crumbs, Page } from "../../ui/page.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { EndpointsSection } from "../webhooks/endpoints/endpoints-section.tsx";
import { facilityQuery } from "./queries.ts";
import { RatesSection } from "./rates-section.tsx";

const route = getRouteApi("/signed-in/facilities/$facilityId");

export function FacilityPage() {
  const { t } = useTranslation();
  const { facilityId } = route.useParams();
  const { data: facility } = useSuspenseQuery(facilityQuery(facilityId));
  return (
    <Page
      title={facility.name}
      crumbs={<Crumbs of={[[t("facilities.title"), paths.facilities()]]} />}
      beside={
        facility.closedAt === null ? (
          <Pill tone="success">{t("facilities.open")}</Pill>
        ) : (
          <Pill>{t("facilities.closed")}</Pill>
        )
      }
      about={countryName(facility.countryCode)}
      actions={
        <>
          <ButtonLink to={paths.stockList(facilityId)} size="xs">
            {t("stock.title")}
          </ButtonLink>
          <ButtonLink to={paths.movements(facilityId)} size="xs" variant="default">
            {t("stock.movements")}
          </ButtonLink>
          <ButtonLink to={paths.work({ facilityId })} size="xs" variant="default">
            {t("work.title")}
          </ButtonLink>
          <Rename facility={facility} />
          <OpenOrClose facility={facility} />
        </>
      }
    >
      <EndpointsSection ownerId={facilityId} />
      <RatesSection facilityId={facilityId} />
    </Page>
  );
}

type Props = { readonly facility: Facility };

function Rename({ facility }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("facilities.rename")}
      effect={t("facilities.renameEffect")}
      done={t("facilities.renamed")}
      initialValues={{ name: facility.name }}
      fields={(form) => (
        <TextInput
          label={t("facilities.name")}
          maxLength={255}
          required
          data-autofocus
          {...form.getInputProps("name")}
        />
      )}
      run={(_, { changed }) =>
        dataOf(api.PATCH("/api/facilities/{id}", { params: { path: { id: facility.id } }, body: changed }))
      }
    />
  );
}

function OpenOrClose({ facility: { id, closedAt } }: Props) {
  const { t } = useTranslation();
  const params = { params: { path: { id } } };
  return closedAt === null ? (
    <ConfirmAction
      label={t("facilities.close")}
      effect={t("facilities.closeEffect")}
      done={t("facilities.isClosed")}
      isDanger
      run={() => dataOf(api.POST("/api/facilities/{id}/close", params))}
    />
  ) : (
    <ConfirmAction
      label={t("facilities.reopen")}
      effect={t("facilities.reopenEffect")}
      done={t("facilities.isOpen")}
      run={() => dataOf(api.POST("/api/facilities/{id}/open", params))}
    />
  );
}
