import assert from "node:assert/strict";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { suite, test } from "node:test";
import { connect as connectTls } from "node:tls";
import {
  isBeforeTls,
  isConnectionFailure,
  isDistrust,
  isTlsFailure,
} from "./connection-failure.ts";

async function codeOf(act: () => Promise<unknown>): Promise<string> {
  try {
    await act();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "";
  }
  throw new Error("it did not fail");
}

suite("failures of connections", () => {
  test("nobody there, no socket, no such name", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    server.close();
    await once(server, "close");
    for (const act of [
      () => once(connect(port, "127.0.0.1"), "connect"),
      () => once(connect("/no/such/socket"), "connect"),
      () => lookup("no-such-name.invalid"),
    ]) {
      const code = await codeOf(act);
      assert.ok(isConnectionFailure(code), code);
    }
  });

  test("whoever speaks no TLS hangs up before there is any", async () => {
    const server = createServer((socket) => void socket.once("data", () => socket.destroy()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => {
      connectTls(port, "127.0.0.1").once("error", resolve);
    });
    server.close();
    const { code = "", message } = error;
    assert.ok(isBeforeTls({ code, message }), String(error));
    assert.ok(!isBeforeTls({ code, message: "read ECONNRESET" }));
  });

  test("each code is of one family, and what is no failure of a connection of none", () => {
    const families: Readonly<Record<string, (code: string) => boolean>> = {
      "ECONNRESET EPIPE ENOTCONN EHOSTDOWN ENETDOWN EADDRNOTAVAIL EAI_FAIL EMFILE ENFILE":
        isConnectionFailure,
      "CERT_HAS_EXPIRED SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE": isDistrust,
      "ERR_TLS_CERT_ALTNAME_INVALID ERR_SSL_WRONG_VERSION_NUMBER": isTlsFailure,
      "EACCES EISDIR 57P01 CONNECT_TIMEOUT": () => false,
    };
    for (const [codes, family] of Object.entries(families))
      for (const code of codes.split(" "))
        for (const is of [isConnectionFailure, isDistrust, isTlsFailure])
          assert.equal(is(code), is === family, code);
  });
});
