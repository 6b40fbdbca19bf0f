import { Alert } from "@mantine/core";
import { useNetwork } from "@mantine/hooks";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";

/** Says that the browser has no network, because what is shown may be old. */
export function OfflineNotice() {
  const { t } = useTranslation();
  const { online } = useNetwork();
  return (
    <div aria-live="polite">
      {!online && (
        <Alert color="yellow" mb="md" icon={<IconPlugConnectedX size={18} />}>
          {t("shell.offline")}
        </Alert>
      )}
    </div>
  );
}
