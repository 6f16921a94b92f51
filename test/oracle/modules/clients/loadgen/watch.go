package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var stampMember = []byte(`"stamp":"`)

// How long writes go on before they are timed: everybody has its code compiled, its buffers grown and its handshakes behind it.
const warmUp = time.Second

// How long nothing comes before what is missing counts as lost.
const patience = 20 * time.Second

// WatchLatency opens watchers, lets writers update a few objects at a steady rate, and times each event at each watcher:
// from before the write was sent until its line is read. Each object has a writer of its own, so that a slow answer
// to one write does not hold up the others' beat.
func watchLatency(settings Settings) Result {
	settings.HTTP2 = false
	result := Result{Verb: "watch", Errors: map[string]int{}}
	writer, err := connect(settings)
	check(err)
	const objects = 10
	for index := range objects {
		name := nameOf(settings, index)
		status, head, err := writer.Do("POST", settings.Path, "application/json", object(settings, name, "0"))
		check(err)
		if status != 201 && status != 409 {
			fmt.Fprintf(os.Stderr, "cannot create %s: %d %s\n", name, status, head)
			os.Exit(1)
		}
	}
	_, head, err := writer.Do("GET", settings.Path+"?limit=1", "", nil)
	check(err)
	revision := between(head, `"resourceVersion":"`)

	started := time.Now()
	var seen atomic.Int64
	var broken atomic.Int64
	var finished atomic.Bool
	latencies := make([][]time.Duration, settings.Watchers)
	var mutexes = make([]sync.Mutex, settings.Watchers)
	var opened sync.WaitGroup
	opened.Add(settings.Watchers)
	for watcher := range settings.Watchers {
		there := settings
		there.URL = settings.WatchURLs[watcher%len(settings.WatchURLs)]
		connection, err := dial(there)
		check(err)
		path := settings.Path + "?watch=1&labelSelector=load%3D" + settings.Prefix + "&resourceVersion=" + revision
		go func() {
			isOpen := false
			var last int64
			err := connection.Lines(path, func() { isOpen = true; opened.Done() }, func(line []byte) {
				now := time.Since(started)
				// What comes twice must not make up for what never came.
				revision, err := revisionOf(line)
				if err != nil || revision <= last {
					broken.Add(1)
					return
				}
				last = revision
				_, rest, found := bytes.Cut(line, stampMember)
				if !found {
					broken.Add(1)
					return
				}
				end := bytes.IndexByte(rest, '"')
				sent, err := strconv.ParseInt(string(rest[:end]), 10, 64)
				if err != nil || sent <= 0 {
					return
				}
				mutexes[watcher].Lock()
				latencies[watcher] = append(latencies[watcher], now-time.Duration(sent))
				mutexes[watcher].Unlock()
				seen.Add(1)
			})
			if !isOpen {
				check(err)
			}
			if !finished.Load() {
				fmt.Fprintf(os.Stderr, "watcher %d: %v\n", watcher, err)
				broken.Add(1)
			}
		}()
	}
	opened.Wait()

	// On the beat; a write whose writer is still busy is left out, and not made up for.
	interval := time.Duration(float64(time.Second) / settings.Rate)
	beats := make([]chan bool, objects)
	var written atomic.Int64
	var mutex sync.Mutex
	var writers sync.WaitGroup
	for index := range objects {
		beats[index] = make(chan bool, 1)
		name := nameOf(settings, index)
		own, err := connect(settings)
		check(err)
		writers.Go(func() {
			for isTimed := range beats[index] {
				stamp := int64(time.Since(started))
				if !isTimed {
					stamp = -stamp
				}
				body := object(settings, name, strconv.FormatInt(stamp, 10))
				method := "PUT"
				if settings.Patch {
					method = "PATCH"
				}
				status, head, err := own.Do(method, settings.Path+"/"+name, contentTypeOf(method), body)
				if err == nil && status == 200 {
					if isTimed {
						written.Add(1)
					}
					continue
				}
				mutex.Lock()
				result.Errors[strconv.Itoa(status)]++
				if result.Sample == "" {
					result.Sample = fmt.Sprintf("%d %.300s %v", status, head, err)
				}
				mutex.Unlock()
				if err != nil {
					if own, err = connect(settings); err != nil {
						return
					}
				}
			}
		})
	}
	beat := time.NewTicker(interval)
	write := func(number int, isTimed bool) {
		<-beat.C
		select {
		case beats[number%objects] <- isTimed:
		default:
		}
	}
	number := 0
	for warm := time.Now(); time.Since(warm) < warmUp; number++ {
		write(number, false)
	}
	begun := time.Now()
	for ; time.Since(begun) < settings.Duration; number++ {
		write(number, true)
	}
	beat.Stop()
	for _, each := range beats {
		close(each)
	}
	result.Seconds = time.Since(begun).Seconds()
	writers.Wait()
	writes := int(written.Load())
	result.Requests = writes
	result.Rate = float64(writes) / result.Seconds
	result.Expected = writes * settings.Watchers
	// Who is behind has lost nothing yet: what has not come when nothing comes any more is lost.
	last, moved := int64(-1), time.Now()
	for int(seen.Load()) < result.Expected && time.Since(moved) < patience {
		if now := seen.Load(); now != last {
			last, moved = now, time.Now()
		}
		time.Sleep(20 * time.Millisecond)
	}
	finished.Store(true)
	result.Seen = int(seen.Load())
	if count := broken.Load(); count > 0 {
		result.Errors["watch"] = int(count)
	}
	var all []time.Duration
	for watcher := range latencies {
		mutexes[watcher].Lock()
		all = append(all, latencies[watcher]...)
		mutexes[watcher].Unlock()
	}
	result.measured(all)
	return result
}

func between(text []byte, before string) string {
	_, rest, _ := bytes.Cut(text, []byte(before))
	value, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(value)
}
