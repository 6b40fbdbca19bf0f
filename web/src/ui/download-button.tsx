import IconDownload from "icon:download";
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { meQuery } from "../api/me.ts";
import { signInGate } from "../api/sign-in-gate.ts";
import { useAnnounce } from "./announce.ts";

type DownloadButtonProps = {
  readonly address: string;
  readonly label?: string;
  /** The service sends the file only after recent authentication: it has personal data. */
  readonly needsProof?: boolean;
};

/**
 * Downloads a file of the API, such as an export. The browser stores it as it arrives, however large it is. An expired
 * session is renewed before, and so is the proof of a file that `needsProof`: a browser would store the problem in the place of
 * the file.
 */
export function DownloadButton({ address, label, needsProof = false }: DownloadButtonProps) {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const announce = useAnnounce();
  const download = async () => {
    await queryClient.fetchQuery({ ...meQuery(), staleTime: 0 });
    if (needsProof && !(await hasRecentProof())) return;
    const link = document.createElement("a");
    link.href = address;
    link.download = "";
    link.click();
  };
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconDownload size={14} />}
      onClick={() => void download().catch(announce.failed)}
    >
      {label ?? t("ui.download")}
    </Button>
  );
}

/** Asks for the proof of a file that the browser requests by its own means. False: the person has closed the dialog. */
async function hasRecentProof(): Promise<boolean> {
  const { session } = await dataOf(api.GET("/auth/account"));
  return session.isRecent || signInGate.open("recent");
}
