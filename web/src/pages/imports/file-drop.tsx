import { FileInput, Group, Stack, Text } from "@mantine/core";
import { IconFileSpreadsheet } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

type Props = {
  readonly label: string;
  /** Names of the types that the browser offers. */
  readonly accept: string;
  readonly file: File | null;
  readonly isBusy: boolean;
  readonly choose: (file: File | null) => void;
  readonly children: ReactNode;
};

/** A field for a file, which can also be dropped on it, and what is chosen beside it. */
export function FileDrop({ label, accept, file, isBusy, choose, children }: Props) {
  const { t } = useTranslation();
  return (
    <Stack
      gap="md"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        const [dropped] = event.dataTransfer.files;
        if (dropped !== undefined && !isBusy) choose(dropped);
      }}
    >
      <Group gap="sm" align="center">
        <FileInput
          w={{ base: "100%", xs: 340 }}
          aria-label={[label, file?.name].filter(Boolean).join(": ")}
          placeholder={label}
          accept={accept}
          leftSection={<IconFileSpreadsheet size={16} />}
          value={file}
          onChange={choose}
          disabled={isBusy}
          clearable={!isBusy}
          clearButtonProps={{ "aria-label": t("ui.clear") }}
        />
        <Text size="sm" c="dimmed" visibleFrom="sm">
          {t("importing.drop")}
        </Text>
      </Group>
      {children}
    </Stack>
  );
}
