import { Button, Group, Radio, Stack, Text } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { ImportMatch, ImportResult } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { stringifySearch } from "../../../routing/search.ts";
import { formatNumber } from "../../../text/format.ts";
import { DownloadButton } from "../../../ui/download-button.tsx";
import { ButtonLink } from "../../../ui/link.tsx";
import { Page } from "../../../ui/page.tsx";
import { Section } from "../../../ui/section.tsx";
import { FileDrop } from "../../imports/file-drop.tsx";
import { ImportFailure } from "../../imports/import-failure.tsx";
import { Uploading } from "../../imports/uploading.tsx";
import { type Import, type ImportState, useImport } from "../../imports/use-import.ts";
import { merchantQuery } from "../../merchants/queries.ts";
import { MerchantCrumbs } from "../products-page.tsx";
import { productsCsv } from "../queries.ts";
import { ImportRows } from "./import-rows.tsx";

const route = getRouteApi("/signed-in/products/of/$merchantId/import");

type Running = Import<ImportResult, ImportMatch>;

/** Products from a file: the file is checked at once, and imported when the person has seen what would change. */
export function ImportPage() {
  const { t } = useTranslation();
  const { merchantId } = route.useParams();
  const { data: merchant } = useSuspenseQuery(merchantQuery(merchantId));
  const running = useImport<ImportResult, ImportMatch>({
    first: "sku",
    targetOf: (match, _, isDryRun) => ({
      address: importAddress(merchantId, { match, ...(isDryRun ? { dryRun: true } : { progress: true }) }),
      mediaType: "text/csv",
    }),
    done: t("importing.done"),
  });
  const { state } = running;
  return (
    <Page
      title={t("importing.title")}
      about={t("importing.about")}
      crumbs={
        <MerchantCrumbs
          merchant={merchant}
          below={[[t("products.title"), paths.merchantProducts(merchant.id)]]}
        />
      }
      actions={<DownloadButton address={productsCsv(merchantId)} label={t("products.exportOf")} />}
    >
      <ChooseFile running={running} />
      {(state.phase === "checking" || state.phase === "storing") && (
        <Uploading state={state} name={running.file?.name ?? ""} cancel={running.cancel} />
      )}
      {state.phase === "failed" && (
        <ImportFailure error={state.error} retry={() => running.choose(running.file, running.choice)} />
      )}
      {(state.phase === "checked" || state.phase === "stored") && (
        <Result running={running} state={state} merchantId={merchantId} />
      )}
    </Page>
  );
}

const importAddress = (merchantId: string, query: Record<string, string | boolean>): string =>
  `/api/merchants/${encodeURIComponent(merchantId)}/products/import${stringifySearch(query)}`;

function ChooseFile({ running: { file, choice: match, state, choose } }: { running: Running }) {
  const { t } = useTranslation();
  const isBusy = state.phase === "storing";
  return (
    <Section title={t("importing.file")}>
      <FileDrop
        label={t("importing.chooseFile")}
        accept=".csv,text/csv"
        file={file}
        isBusy={isBusy}
        choose={(chosen) => choose(chosen, match)}
      >
        <Radio.Group
          label={t("importing.match")}
          value={match}
          // The radio buttons have these two values.
          onChange={(value) => choose(file, value as ImportMatch)}
        >
          <Stack gap={6} mt={6}>
            <Radio value="sku" label={t("importing.matchSku")} disabled={isBusy} />
            <Radio value="id" label={t("importing.matchId")} disabled={isBusy} />
          </Stack>
        </Radio.Group>
        {file === null && (
          <Stack gap={2}>
            {(["fileHelp", "price", "start"] as const).map((name) => (
              <Text key={name} size="sm" c="dimmed">
                {t(`importing.${name}`)}
              </Text>
            ))}
          </Stack>
        )}
        {state.phase === "choosing" && state.isCanceled && (
          <Text size="sm" role="status">
            {t("importing.canceled")}
          </Text>
        )}
      </FileDrop>
    </Section>
  );
}

type ResultProps = {
  readonly running: Running;
  readonly state: Extract<ImportState<ImportResult>, { phase: "checked" | "stored" }>;
  readonly merchantId: string;
};

function Result({ running, state: { phase, result }, merchantId }: ResultProps) {
  const { t } = useTranslation();
  const count = result.created + result.changed;
  const isStored = phase === "stored";
  return (
    <Section
      title={t(isStored ? "importing.result" : "importing.preview")}
      actions={
        isStored ? (
          <Group gap="xs">
            <Button size="xs" variant="default" onClick={() => running.choose(null, running.choice)}>
              {t("importing.another")}
            </Button>
            <ButtonLink to={paths.merchantProducts(merchantId)} size="xs">
              {t("importing.toProducts")}
            </ButtonLink>
          </Group>
        ) : (
          count > 0 && (
            <Button size="sm" onClick={running.store}>
              {t("importing.import", { count })}
            </Button>
          )
        )
      }
    >
      <Group gap="xl" role="status">
        {(["created", "changed", "unchanged"] as const).map((change) => (
          <div key={change}>
            <Text fz={24} fw={600} lh={1.2} style={{ fontVariantNumeric: "tabular-nums" }}>
              {formatNumber(result[change])}
            </Text>
            <Text size="sm" c="dimmed">
              {t(`importing.${change}`)}
            </Text>
          </div>
        ))}
      </Group>
      {!isStored && (
        <Text size="sm" c="dimmed">
          {t(count === 0 ? "importing.nothing" : "importing.importEffect")}
        </Text>
      )}
      <ImportRows result={result} />
    </Section>
  );
}
