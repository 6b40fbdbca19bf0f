import { installPackages } from "../../scripts/install-packages.ts";

/** Tools that only this suite needs; package.json of this folder names them. */
export default function setup(): void {
  installPackages("test/release");
}
