import { Skeleton, Stack } from "@mantine/core";
import { useTranslation } from "react-i18next";

export function OverviewSkeleton() {
  const { t } = useTranslation();
  return (
    <Stack gap="md" role="status" aria-label={t("ui.loading")}>
      <Skeleton height={92} />
      <Skeleton height={360} />
      <Skeleton height={180} />
    </Stack>
  );
}
