package main

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var versionMember = []byte(`"resourceVersion":"`)

// Follow opens watchers from now on and says "open". Others write. A line on standard input, a revision, is the last that
// counts: once every watcher has come to it, or nothing comes any more, what each has seen is compared.
func follow(settings Settings) Result {
	settings.HTTP2 = false
	result := Result{Verb: "follow", Errors: map[string]int{}}
	first, err := connect(settings)
	check(err)
	_, head, err := first.Do("GET", settings.Path+"?limit=1", "", nil)
	check(err)
	from := between(head, `"resourceVersion":"`)
	watchers := make([]*follower, settings.Watchers)
	var opened sync.WaitGroup
	opened.Add(settings.Watchers)
	for index := range watchers {
		there := settings
		there.URL = settings.WatchURLs[index%len(settings.WatchURLs)]
		connection, err := dial(there)
		check(err)
		watcher := &follower{}
		watchers[index] = watcher
		go func() {
			isOpen := false
			err := connection.Lines(settings.Path+"?watch=1&resourceVersion="+from, func() { isOpen = true; opened.Done() }, watcher.read)
			if !isOpen {
				check(err)
			}
			watcher.fail(err.Error())
		}()
	}
	opened.Wait()
	begun := time.Now()
	fmt.Println("open")
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	check(err)
	last, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	check(err)
	result.Seconds = time.Since(begun).Seconds()

	// As long as something comes there is hope.
	for quietSince, before := time.Now(), -1; time.Since(quietSince) < 30*time.Second; time.Sleep(20 * time.Millisecond) {
		seen, level := 0, 0
		for _, watcher := range watchers {
			events, revision := watcher.position()
			seen += events
			if revision >= last {
				level++
			}
		}
		if level == len(watchers) {
			break
		}
		if seen != before {
			quietSince, before = time.Now(), seen
		}
	}
	streams := map[string]int{}
	for _, watcher := range watchers {
		stream, failure := watcher.account(last)
		streams[stream]++
		if failure != "" {
			result.Errors[failure]++
		}
		result.Seen += watcher.events
	}
	result.Streams = len(streams)
	result.Requests = settings.Watchers
	return result
}

// A follower counts events and notes what is no sound stream: revisions must rise.
type follower struct {
	mutex    sync.Mutex
	events   int
	revision int64
	failure  string
	digest   uint64
}

func (f *follower) read(line []byte) {
	revision, err := revisionOf(line)
	if err != nil {
		f.fail(err.Error())
		return
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if revision <= f.revision && f.failure == "" {
		f.failure = fmt.Sprintf("%d after %d", revision, f.revision)
	}
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%d %d", f.digest, revision)
	f.revision, f.digest = revision, hash.Sum64()
	f.events++
}

// RevisionOf is that of the object in an event: the first that stands there.
func revisionOf(line []byte) (int64, error) {
	_, rest, found := bytes.Cut(line, versionMember)
	end := bytes.IndexByte(rest, '"')
	if !found || end < 0 {
		return 0, fmt.Errorf("no revision: %.200s", line)
	}
	return strconv.ParseInt(string(rest[:end]), 10, 64)
}

func (f *follower) fail(why string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.failure == "" {
		f.failure = why
	}
}

func (f *follower) position() (events int, revision int64) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.events, f.revision
}

// Account answers what tells this stream from another, and what is wrong with it.
func (f *follower) account(last int64) (stream, failure string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.failure == "" && f.revision < last {
		f.failure = fmt.Sprintf("ends at %d", f.revision)
	}
	return fmt.Sprintf("%d %x", f.events, f.digest), f.failure
}
