import { read } from "../../api/read.ts";

export const settingsQuery = () => read("/api/settings");
