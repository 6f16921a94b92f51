import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { systemClock } from "@keelson/base";
import { RestClient, unreachableText } from "./rest-client.ts";

suite("a server that cannot be asked", () => {
  test("one that speaks no TLS is told in words, with the address that would do", async (t) => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const client = new RestClient(
      { url: `https://127.0.0.1:${port}`, token: undefined, email: undefined },
      systemClock,
    );
    await assert.rejects(client.get("/resources", {}, t.signal), {
      name: "Unreachable",
      message: `https://127.0.0.1:${port} cannot be reached (it speaks no TLS): write --server http://127.0.0.1:${port}`,
    });
  });

  test("one that hangs up without TLS is told with the address that might do", async (t) => {
    const server = createTlsServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const client = new RestClient(
      { url: `http://127.0.0.1:${port}`, token: undefined, email: undefined },
      systemClock,
    );
    await assert.rejects(client.get("/resources", {}, t.signal), {
      name: "Unreachable",
      message: `http://127.0.0.1:${port} cannot be reached (it hung up): is it well? if it speaks TLS, write --server https://127.0.0.1:${port}`,
    });
  });

  for (const [when, answer] of [
    ["before it answers", undefined],
    ["in the middle of an answer", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"],
  ] as const) {
    test(`one that hangs up ${when} and has answered before is not asked for TLS`, async (t) => {
      let asked = 0;
      const server = createServer((request, response) => {
        if (++asked === 1) response.end("{}");
        else if (answer === undefined) request.socket.destroy();
        else request.socket.write(answer, () => request.socket.destroy());
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      t.after(() => server.close());
      const { port } = server.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}`;
      const client = new RestClient({ url, token: undefined, email: undefined }, systemClock);
      await client.get("/resources", {}, t.signal);
      await assert.rejects(client.get("/resources", {}, t.signal), {
        name: "Unreachable",
        message: `${url} cannot be reached (it hung up): is it running there, and is --server right?`,
      });
    });
  }

  test("one whose certificate nobody vouches for is told with what would", () => {
    for (const code of ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "DEPTH_ZERO_SELF_SIGNED_CERT"]) {
      const failure = new TypeError("fetch failed", {
        cause: Object.assign(new Error(), { code }),
      });
      assert.equal(
        unreachableText("https://keelson.example.com", failure),
        "https://keelson.example.com cannot be reached (its certificate is not trusted): " +
          "name the file of its authority in NODE_EXTRA_CA_CERTS",
      );
    }
  });

  test("one whose certificate has run out is told with that, not as one that nobody vouches for", () => {
    const cause = Object.assign(new Error("certificate has expired"), { code: "CERT_HAS_EXPIRED" });
    assert.equal(
      unreachableText("https://keelson.example.com", new TypeError("fetch failed", { cause })),
      "https://keelson.example.com cannot be reached (certificate has expired): " +
        "give the server one that is valid now, by its --tls-cert-file",
    );
  });

  test("one whose certificate is for other names is told with them", () => {
    const cert = { subjectaltname: "DNS:keelson.example.com, IP Address:192.0.2.7" };
    const cause = Object.assign(new Error(), { code: "ERR_TLS_CERT_ALTNAME_INVALID", cert });
    assert.equal(
      unreachableText("https://127.0.0.1:8080", new TypeError("fetch failed", { cause })),
      "https://127.0.0.1:8080 cannot be reached (its certificate is for keelson.example.com, 192.0.2.7): " +
        "write --server with a name of the certificate",
    );
  });
});
