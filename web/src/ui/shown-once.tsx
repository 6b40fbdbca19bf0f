import IconEyeOff from "icon:eye-off";
import { Alert, Button, Code, Group, Modal, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { CopyButton } from "./copy-button.tsx";

type Props = {
  readonly title: string;
  /** What it is for, and what to do with it, in a sentence. */
  readonly about: string;
  /** The key or secret. Null: nothing is shown. */
  readonly value: string | null;
  readonly onClose: () => void;
};

/** A key or secret that the service shows once. Only its own button closes it, so that no stray click loses it. */
export function ShownOnce({ title, about, value, onClose }: Props) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={value !== null}
      onClose={onClose}
      title={title}
      size="lg"
      centered
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Text size="sm">{about}</Text>
        <Group gap="xs" wrap="nowrap">
          <Code block style={{ flex: 1, overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
            {value}
          </Code>
          <CopyButton value={value ?? ""} of={title} />
        </Group>
        <Alert color="yellow" icon={<IconEyeOff size={18} />}>
          {t("ui.shownOnce")}
        </Alert>
        <Group justify="flex-end">
          <Button onClick={onClose}>{t("ui.stored")}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
