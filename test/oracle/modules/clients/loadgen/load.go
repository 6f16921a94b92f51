package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Load runs closed loops: each client sends its next request once the last one is answered.
func load(settings Settings) Result {
	result := Result{Verb: settings.Verb, Errors: map[string]int{}}
	var mutex sync.Mutex
	var latencies []time.Duration
	var next atomic.Int64
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(settings.Clients)
	var begun time.Time
	for client := range settings.Clients {
		done.Go(func() {
			connection, err := connect(settings)
			check(err)
			defer func() { connection.Close() }()
			ready.Done()
			<-start
			var mine []time.Duration
			failures := map[string]int{}
			var sample string
			work := worker{settings: settings, client: client, random: rand.New(rand.NewPCG(7, uint64(client)))}
			for {
				number := next.Add(1)
				if settings.Verb == "fill" {
					if number > int64(settings.Objects) {
						break
					}
				} else if time.Since(begun) > settings.Duration {
					break
				}
				method, path, body := work.next(int(number))
				before := time.Now()
				status, head, err := connection.Do(method, path, contentTypeOf(method), body)
				after := time.Now()
				if err != nil || status >= 300 {
					failures[strconv.Itoa(status)]++
					if sample == "" {
						sample = fmt.Sprintf("%s %s: %d %.300s %v", method, path, status, head, err)
					}
					if err != nil {
						connection.Close()
						time.Sleep(10 * time.Millisecond)
						if connection, err = connect(settings); err != nil {
							fmt.Fprintln(os.Stderr, err)
							break
						}
					}
					continue
				}
				work.answered(head)
				mine = append(mine, after.Sub(before))
			}
			mutex.Lock()
			defer mutex.Unlock()
			latencies = append(latencies, mine...)
			if result.Sample == "" {
				result.Sample = sample
			}
			for status, count := range failures {
				result.Errors[status] += count
			}
		})
	}
	ready.Wait()
	begun = time.Now()
	close(start)
	done.Wait()
	result.Seconds = time.Since(begun).Seconds()
	result.Requests = len(latencies)
	result.Rate = float64(result.Requests) / result.Seconds
	result.measured(latencies)
	return result
}

// Worker knows what its client sends next.
type worker struct {
	settings Settings
	client   int
	random   *rand.Rand
	turn     int
	token    string
}

func (w *worker) next(number int) (method, path string, body []byte) {
	settings := w.settings
	w.turn++
	switch settings.Verb {
	case "create":
		return "POST", settings.Path, object(settings, fmt.Sprintf("%s-%d", settings.Prefix, number), strconv.Itoa(number))
	case "fill":
		return "POST", settings.Path, object(settings, nameOf(settings, number-1), "0")
	case "update":
		// Objects of its own: nobody waits for anybody else's revision.
		share := max(1, settings.Objects/settings.Clients)
		name := nameOf(settings, (w.client*share+w.turn%share)%settings.Objects)
		method := "PUT"
		if settings.Patch {
			method = "PATCH"
		}
		return method, settings.Path + "/" + name, object(settings, name, strconv.Itoa(number))
	case "get":
		return "GET", settings.Path + "/" + nameOf(settings, w.random.IntN(settings.Objects)), nil
	case "list":
		return "GET", settings.Path, nil
	case "page":
		path := settings.Path + "?limit=" + strconv.Itoa(settings.Limit)
		if w.token != "" {
			path += "&continue=" + url.QueryEscape(w.token)
		}
		return "GET", path, nil
	case "post":
		return "POST", settings.Path, object(settings, "echo", strconv.Itoa(number))
	case "raw":
		return "GET", settings.Path, nil
	}
	fmt.Fprintf(os.Stderr, "no such verb: %s\n", settings.Verb)
	os.Exit(2)
	return
}

var continueMember = []byte(`"continue":"`)

// Answered remembers where the next page begins.
func (w *worker) answered(head []byte) {
	if w.settings.Verb != "page" {
		return
	}
	w.token = ""
	if _, rest, found := bytes.Cut(head, continueMember); found {
		if token, _, closed := bytes.Cut(rest, []byte(`"`)); closed {
			w.token = string(token)
		}
	}
}

func contentTypeOf(method string) string {
	if method == "PATCH" {
		return "application/merge-patch+json"
	}
	return "application/json"
}

func nameOf(settings Settings, index int) string {
	return fmt.Sprintf("%s-%07d", settings.Prefix, index)
}

var fillers sync.Map

// Object is what the template says, or a ConfigMap with about as many bytes of data as were asked for. The stamp differs from
// write to write.
func object(settings Settings, name, stamp string) []byte {
	if settings.Template != nil {
		named := bytes.ReplaceAll(settings.Template, []byte("{name}"), []byte(name))
		return bytes.ReplaceAll(named, []byte("{stamp}"), []byte(stamp))
	}
	filler, found := fillers.Load(settings.Size)
	if !found {
		text := make([]byte, max(0, settings.Size-40))
		for index := range text {
			text[index] = "abcdefghijklmnopqrstuvwxyz"[index%26]
		}
		filler, _ = fillers.LoadOrStore(settings.Size, string(text))
	}
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"labels":{"load":%q}},"data":{"stamp":%q,"text":%q}}`,
		name, settings.Prefix, stamp, filler)
}
