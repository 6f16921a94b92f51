// Load for an API server: requests from many clients for a while, or watchers that time what a writer does.
//
// Over HTTP/1.1 each client is one connection with requests written by hand, so that the generator costs far less than any
// server; over HTTP/2 the standard client is used. The result is one line of JSON.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// Settings are the flags, as every part reads them.
type Settings struct {
	URL       *url.URL
	WatchURLs []*url.URL
	TLS       *tls.Config
	HTTP2     bool
	Verb      string
	Path      string
	Prefix    string
	Clients   int
	Objects   int
	Size      int
	Limit     int
	Watchers  int
	Rate      float64
	Duration  time.Duration
	Template  []byte
	Patch     bool
}

// Result is what is printed.
type Result struct {
	Verb     string  `json:"verb"`
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"`
	Rate     float64 `json:"rate"`
	// Milliseconds: of requests, or of a write until its event is seen.
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
	// Answers that were no success, by status; 0 is a broken connection.
	Errors map[string]int `json:"errors"`
	Sample string         `json:"sample,omitempty"`
	// Events that watchers should have seen, and did.
	Expected int `json:"expected"`
	Seen     int `json:"seen"`
	// Different streams among those who followed: one, if all saw the same.
	Streams int `json:"streams,omitempty"`
}

func main() {
	settings := Settings{}
	address := flag.String("url", "", "where the server is")
	authority := flag.String("ca", "", "file: the authority of the server's certificate")
	certificate := flag.String("cert", "", "file: the client's certificate")
	key := flag.String("key", "", "file: its key")
	elsewhere := flag.String("watch-urls", "", "where the watchers are, commas between; each gets as many")
	flag.BoolVar(&settings.HTTP2, "http2", false, "speak HTTP/2")
	flag.StringVar(&settings.Verb, "verb", "get", "create, fill, update, get, list, page, watch, follow, post")
	flag.StringVar(&settings.Path, "path", "/api/v1/namespaces/default/configmaps", "the collection")
	flag.StringVar(&settings.Prefix, "prefix", "load", "what names start with")
	flag.IntVar(&settings.Clients, "clients", 1, "how many at once")
	flag.IntVar(&settings.Objects, "objects", 1000, "how many objects there are, or are made")
	flag.IntVar(&settings.Size, "size", 1024, "bytes of an object's data")
	flag.IntVar(&settings.Limit, "limit", 500, "objects of a page")
	flag.IntVar(&settings.Watchers, "watchers", 1, "how many watch")
	flag.Float64Var(&settings.Rate, "rate", 50, "writes a second while others watch")
	flag.DurationVar(&settings.Duration, "duration", 3*time.Second, "how long")
	flag.BoolVar(&settings.Patch, "patch", false, "write by merge patch: for kinds that take no PUT without a version")
	template := flag.String("template", "", "file: the object to write, with {name} and {stamp} in it")
	flag.Parse()

	if *template != "" {
		text, err := os.ReadFile(*template)
		check(err)
		settings.Template = text
	}
	parsed, err := url.Parse(*address)
	check(err)
	settings.URL = parsed
	settings.WatchURLs = []*url.URL{parsed}
	if *elsewhere != "" {
		settings.WatchURLs = nil
		for _, address := range strings.Split(*elsewhere, ",") {
			parsed, err := url.Parse(address)
			check(err)
			settings.WatchURLs = append(settings.WatchURLs, parsed)
		}
		settings.Watchers *= len(settings.WatchURLs)
	}
	settings.TLS = tlsConfig(*authority, *certificate, *key)
	var result Result
	switch settings.Verb {
	case "watch":
		result = watchLatency(settings)
	case "follow":
		result = follow(settings)
	default:
		result = load(settings)
	}
	line, err := json.Marshal(result)
	check(err)
	fmt.Println(string(line))
}

func tlsConfig(authority, certificate, key string) *tls.Config {
	config := &tls.Config{}
	if authority != "" {
		text, err := os.ReadFile(authority)
		check(err)
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(text)
	}
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		check(err)
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

// Measured fills in the figures from the durations of what succeeded.
func (result *Result) measured(latencies []time.Duration) {
	slices.Sort(latencies)
	at := func(share float64) float64 {
		if len(latencies) == 0 {
			return 0
		}
		index := min(len(latencies)-1, int(float64(len(latencies))*share))
		return float64(latencies[index].Microseconds()) / 1000
	}
	result.P50, result.P99, result.Max = at(0.5), at(0.99), at(1)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
