package peers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"voltbus/fault"
)

// Store is another project's store of readings.
type Store struct {
	Name    string
	Promise string // what its answer means for the disk, in one sentence
	Rows    bool   // whether it reads Batch.Rows rather than Batch.Lines
	Find    func() error
	// Open starts it with an empty directory.
	Open func(ctx context.Context, dir string) (Intake, error)
}

// Intake is a store that runs. Write may be called from several goroutines.
type Intake interface {
	// Write hands over readings and returns when the store has answered that it has them.
	Write(ctx context.Context, b *Batch) error
	// Count returns how many readings a question finds.
	Count(ctx context.Context) (uint64, error)
	// Process is the number of its process; 0 if it works in several.
	Process() int
	// Close ends the store.
	Close() error
}

// Batch holds the same readings in the forms that stores want.
type Batch struct {
	Lines []byte // line protocol with times in ns
	Rows  []byte // point, time as in RFC 3339 and value, with tabs between and a newline behind each
}

// Stores returns the stores that can be compared with.
func Stores() []Store { return []Store{postgreSQL(), influxDB(), victoriaMetrics()} }

// web asks a store over HTTP.
type web struct {
	client *http.Client
	base   string
}

func newWeb(address string) web {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	return web{&http.Client{Transport: transport, Timeout: 2 * time.Minute}, "http://" + address}
}

const mostAnswer = 1 << 20

// ask sends a request and returns the answer's body.
func (w *web) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask the store: %w", err)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, fault.E("peers.ask", fault.Unavailable, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("it answered %s: %.200s", resp.Status, text)
	}
	if err != nil {
		return nil, fault.E("peers.ask", fault.Unavailable, path, err)
	}
	return text, nil
}

func (w *web) close() { w.client.CloseIdleConnections() }

var errNoCount = errors.New("the answer holds no count")
