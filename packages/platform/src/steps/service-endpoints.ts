// Where apps find Redis and OpenSearch, from what the operator was told. What was told as a URL is passed on as it is.

export interface RedisEndpoint {
  /** `host:port`, `host` or a URL. */
  readonly endpoint: string;
  /** Of an endpoint that is no URL: whether it speaks TLS. */
  readonly tls: boolean;
}

/** Throws a `TypeError` that does not show the endpoint: it may have a password in it. */
export function redisVariables({ endpoint, tls }: RedisEndpoint): Record<string, string> {
  const text = isUrl(endpoint) ? endpoint : `${tls ? "rediss" : "redis"}://${endpoint}`;
  const url = parse(text, { setting: "REDIS_ENDPOINT", schemes: ["redis:", "rediss:"] });
  const port = url.port === "" ? "6379" : url.port;
  return {
    REDIS_URL: isUrl(endpoint) ? endpoint : `${url.protocol}//${url.hostname}:${port}`,
    REDIS_HOST: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    REDIS_PORT: port,
  };
}

/** A managed one is told by its host alone, and speaks TLS. Throws as `redisVariables` does. */
export function searchUrl(endpoint: string): string {
  const text = isUrl(endpoint) ? endpoint : `https://${endpoint}`;
  const url = parse(text, { setting: "OPENSEARCH_ENDPOINT", schemes: ["http:", "https:"] });
  if (isUrl(endpoint)) return endpoint;
  return `https://${url.hostname}:${url.port === "" ? "443" : url.port}`;
}

function isUrl(endpoint: string): boolean {
  return endpoint.includes("://");
}

function parse(
  text: string,
  { setting, schemes }: { readonly setting: string; readonly schemes: readonly string[] },
): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === "" || !schemes.includes(url.protocol)) {
    const examples = schemes.map((scheme) => `${scheme}//host:port`).join(" or ");
    throw new TypeError(`${setting} must be host:port, ${examples}`);
  }
  // It would end in a ConfigMap, which more people may read than should.
  if (url.username !== "" || url.password !== "") {
    throw new TypeError(
      `${setting} must not have a user or a password in it: give apps theirs as a variable of their own`,
    );
  }
  return url;
}
