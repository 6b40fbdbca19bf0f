import { ActionIcon, CopyButton as Copy, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";

/** Copies a text. `of` names what it is, for those who hear the button. */
export function CopyButton({ value, of }: { value: string; of: string }) {
  const { t } = useTranslation();
  return (
    <Copy value={value} timeout={1_500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? t("ui.copied") : t("ui.copy")} openDelay={300}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            onClick={copy}
            aria-label={t("ui.copyOf", { of })}
          >
            {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
          </ActionIcon>
        </Tooltip>
      )}
    </Copy>
  );
}
