// What the system and OpenSSL call a connection that could not be made, or is lost.

/** No such name, no way there, nobody there, nothing left here to make one with. */
const systemCodes =
  /^E(?:CONN[A-Z]+|PIPE|TIMEDOUT|NOTCONN|HOSTUNREACH|HOSTDOWN|NETUNREACH|NETDOWN|ADDRNOTAVAIL|NOTFOUND|AI_[A-Z]+|NOENT|MFILE|NFILE)$/;

const distrustCodes = /^(?:UNABLE_TO_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_)/;

/** Whether the other side could not be reached, or was lost, by the code of the system's error. */
export function isConnectionFailure(code: string): boolean {
  return systemCodes.test(code);
}

/** Whether the other side hung up before there was TLS, as one does that speaks none. Node has no code of its own for that. */
export function isBeforeTls({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): boolean {
  return code === "ECONNRESET" && message.includes("before secure TLS connection");
}

/** Whether the other side showed a certificate that nobody has vouched for, or nobody does any more. */
export function isDistrust(code: string): boolean {
  return distrustCodes.test(code);
}

/** Whether the two sides found no common way to speak TLS, or the certificate is another's. */
export function isTlsFailure(code: string): boolean {
  return /^ERR_(?:TLS|SSL)_/.test(code);
}
