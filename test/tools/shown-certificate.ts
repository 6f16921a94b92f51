import { once } from "node:events";
import { connect, type PeerCertificate } from "node:tls";

/** The certificate that a server shows to whoever connects now and trusts this authority. */
export async function shownCertificate(port: number, ca: string): Promise<PeerCertificate> {
  const socket = connect({ host: "127.0.0.1", port, ca, ALPNProtocols: ["http/1.1"] });
  try {
    await once(socket, "secureConnect");
    return socket.getPeerCertificate();
  } finally {
    socket.destroy();
  }
}
