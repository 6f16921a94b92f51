package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Connection sends one request at a time.
type Connection interface {
	// Do reads the whole answer, and keeps the first bytes of the body.
	Do(method, path, contentType string, body []byte) (status int, head []byte, err error)
	Close()
}

const headBytes = 2048

func connect(settings Settings) (Connection, error) {
	if settings.HTTP2 {
		return &standard{settings, shared(settings)}, nil
	}
	return dial(settings)
}

// By hand: one connection over HTTP/1.1, kept alive.
type raw struct {
	settings Settings
	socket   *tls.Conn
	reader   *bufio.Reader
	request  bytes.Buffer
	head     []byte
}

func dial(settings Settings) (*raw, error) {
	config := settings.TLS.Clone()
	config.NextProtos = []string{"http/1.1"}
	config.ServerName = settings.URL.Hostname()
	socket, err := tls.Dial("tcp", settings.URL.Host, config)
	if err != nil {
		return nil, err
	}
	return &raw{settings: settings, socket: socket, reader: bufio.NewReaderSize(socket, 64<<10), head: make([]byte, 0, headBytes)}, nil
}

func (c *raw) send(method, path, contentType string, body []byte) error {
	c.request.Reset()
	fmt.Fprintf(&c.request, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: loadgen\r\nAccept: application/json\r\n", method, path, c.settings.URL.Host)
	if body != nil {
		fmt.Fprintf(&c.request, "Content-Type: %s\r\nContent-Length: %d\r\n", contentType, len(body))
	}
	c.request.WriteString("\r\n")
	c.request.Write(body)
	_, err := c.socket.Write(c.request.Bytes())
	return err
}

// ReadHead answers the status and how the body ends: its length, or -1 if it comes in chunks.
func (c *raw) readHead() (status int, length int64, closes bool, err error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return 0, 0, false, err
	}
	if len(line) < 12 {
		return 0, 0, false, fmt.Errorf("no status line: %q", line)
	}
	status, err = strconv.Atoi(string(line[9:12]))
	if err != nil {
		return 0, 0, false, err
	}
	for {
		line, err = c.reader.ReadSlice('\n')
		if err != nil {
			return 0, 0, false, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return status, length, closes, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			length, err = strconv.ParseInt(string(value), 10, 64)
			if err != nil {
				return 0, 0, false, err
			}
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			length = -1
		case bytes.EqualFold(name, []byte("connection")) && bytes.EqualFold(value, []byte("close")):
			closes = true
		}
	}
}

func (c *raw) Do(method, path, contentType string, body []byte) (int, []byte, error) {
	if err := c.send(method, path, contentType, body); err != nil {
		return 0, nil, err
	}
	status, length, closes, err := c.readHead()
	if err != nil {
		return 0, nil, err
	}
	c.head = c.head[:0]
	if length >= 0 {
		err = c.take(length)
	} else {
		for {
			var chunk int64
			if chunk, err = c.chunkSize(); err != nil || chunk == 0 {
				break
			}
			if err = c.take(chunk); err != nil {
				break
			}
			if _, err = c.reader.Discard(2); err != nil {
				break
			}
		}
		if err == nil {
			_, err = c.reader.Discard(2)
		}
	}
	if err == nil && closes {
		err = c.again()
	}
	return status, c.head, err
}

func (c *raw) again() error {
	c.Close()
	fresh, err := dial(c.settings)
	if err != nil {
		return err
	}
	c.socket, c.reader = fresh.socket, fresh.reader
	return nil
}

func (c *raw) chunkSize() (int64, error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimRight(string(line), "\r\n"), 16, 64)
}

// Take reads a stretch of the body and keeps what still fits of its beginning.
func (c *raw) take(length int64) error {
	if room := int64(cap(c.head) - len(c.head)); room > 0 {
		kept := min(room, length)
		start := len(c.head)
		c.head = c.head[:start+int(kept)]
		if _, err := io.ReadFull(c.reader, c.head[start:]); err != nil {
			return err
		}
		length -= kept
	}
	_, err := c.reader.Discard(int(length))
	return err
}

func (c *raw) Close() { _ = c.socket.Close() }

// Lines follows an answer that does not end, line by line; what is passed on is good until the next one.
func (c *raw) Lines(path string, opened func(), line func([]byte)) error {
	if err := c.send("GET", path, "", nil); err != nil {
		return err
	}
	status, length, _, err := c.readHead()
	if err != nil {
		return err
	}
	if status != 200 || length != -1 {
		return fmt.Errorf("the watch was answered %d", status)
	}
	opened()
	var kept []byte
	for {
		chunk, err := c.chunkSize()
		if err != nil {
			return err
		}
		if chunk == 0 {
			return errors.New("the watch has ended")
		}
		start := len(kept)
		kept = slicesGrow(kept, int(chunk))
		if _, err := io.ReadFull(c.reader, kept[start:]); err != nil {
			return err
		}
		if _, err := c.reader.Discard(2); err != nil {
			return err
		}
		rest := kept
		for {
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				break
			}
			line(rest[:end])
			rest = rest[end+1:]
		}
		kept = append(kept[:0], rest...)
	}
}

func slicesGrow(bytes []byte, more int) []byte {
	if cap(bytes)-len(bytes) >= more {
		return bytes[:len(bytes)+more]
	}
	grown := make([]byte, len(bytes)+more, 2*(len(bytes)+more))
	copy(grown, bytes)
	return grown
}

// The standard client, which speaks HTTP/2. All share its connections, as in a Go program.
type standard struct {
	settings Settings
	client   *http.Client
}

var sharedClient *http.Client

func shared(settings Settings) *http.Client {
	if sharedClient == nil {
		transport := &http.Transport{TLSClientConfig: settings.TLS.Clone(), ForceAttemptHTTP2: true, DisableCompression: true, MaxIdleConnsPerHost: 100}
		sharedClient = &http.Client{Transport: transport}
	}
	return sharedClient
}

func (c *standard) Do(method, path, contentType string, body []byte) (int, []byte, error) {
	request, err := http.NewRequest(method, strings.TrimSuffix(c.settings.URL.String(), "/")+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	answer, err := c.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	head := make([]byte, headBytes)
	read, err := io.ReadFull(answer.Body, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return 0, nil, err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, head[:read], err
}

func (c *standard) Close() {}
