package study

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/lab/experiment"
	"voltbus/lab/peers"
	"voltbus/lab/rig"
)

// ingestLineProtocol measures what a node records over HTTP.
func ingestLineProtocol() experiment.Experiment {
	return experiment.Experiment{
		Name:     "ingest-line-protocol",
		Title:    "Readings over HTTP in line protocol, durable",
		Question: "How many readings a second does one node take over HTTP, each answered when it is on disk, and how long does an answer take?",
		Method: []string{
			"A whole node in a process of its own. The lab sends bodies of line protocol to POST /api/v2/write over connections that stay open, by a schedule that does not wait for answers; the node answers when the block is flushed. Latency counts from the time at which a body was due.",
			"With peers: the same readings go to stores that nobody here wrote, by the same schedule: to InfluxDB and VictoriaMetrics in the same bodies to POST /write, to PostgreSQL with COPY, a transaction a body.",
			"The offered rate is doubled until the node refuses, or answers less than 95 % of what was offered in the time, or most-rate is reached.",
			"Every reading has a number of its own. At the end all rows are counted in the store: acknowledged must be found, each once.",
		},
		Limits: []string{
			"The generator shares the processors with the node; the report says whether it kept to its schedule.",
			"The stores promise different things with their answer. " + promises(),
			"As long as the node keeps up, the figure is the offered rate, so it is a lower bound.",
		},
		Metric: experiment.Metric{Name: "acknowledged", Unit: "samples/s", Axis: "samples/s offered", Higher: true},
		Settings: []experiment.Setting{
			{Name: "first-rate", Default: "125000", Quick: "20000", Doc: "readings a second of the first case"},
			{Name: "most-rate", Default: "2000000", Quick: "40000", Doc: "readings a second of the last case"},
			{Name: "batch", Default: "5000", Doc: "readings in a body"},
			{Name: "points", Default: "1000", Doc: "different points"},
			{Name: "connections", Default: "32", Doc: "bodies that may be under way at once"},
			{Name: "warm-up", Default: "1s", Quick: "500ms", Doc: "sent but not in the latencies"},
			{Name: "window", Default: "6s", Quick: "2s", Doc: "how long bodies are due, the warm-up included"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			return offerRates(ctx, b, "The node", func(ctx context.Context, t *experiment.Trial) (taker, error) {
				return openNode(ctx, b, t.Dir)
			})
		},
		Peers: storePeers(),
	}
}

// nodeTaker is a whole node in a process of its own.
type nodeTaker struct {
	node   *rig.Running
	client http.Client
	url    string
	token  string
}

func openNode(ctx context.Context, b *experiment.Bench, dir string) (taker, error) {
	file, err := rig.Site{}.Write(dir)
	if err != nil {
		return nil, err
	}
	token := filepath.Join(dir, "data", identity.AdminTokenFile)
	n, err := rig.Open(ctx, b.Program(), file)
	if err != nil {
		return nil, err
	}
	w := &nodeTaker{node: n, url: n.URL + "/api/v2/write?org=lab&bucket=lab&precision=ns"}
	w.client.Transport = &http.Transport{MaxIdleConnsPerHost: max(1, b.Int("connections")), DisableCompression: true}
	if w.token, err = identity.ReadToken(token); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *nodeTaker) process() int { return w.node.Process() }

func (w *nodeTaker) close() error {
	w.client.CloseIdleConnections()
	return w.node.Close()
}

func (w *nodeTaker) write(ctx context.Context, b *peers.Batch) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(b.Lines))
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	req.Header.Set("Authorization", "Token "+w.token)
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	resp, err := w.client.Do(req)
	if err != nil {
		return fault.E("study.write", fault.Unavailable, w.url, err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, 1000))
	if err != nil {
		return fault.E("study.write", fault.Unavailable, w.url, err)
	}
	if resp.StatusCode != http.StatusNoContent {
		return &refusal{fmt.Errorf("status %d: %s", resp.StatusCode, said)}
	}
	return nil
}

// found counts the rows in the history, and those with a number that no other has.
func (w *nodeTaker) found(ctx context.Context) (rows, distinct uint64, err error) {
	if _, err := w.node.Settled(ctx); err != nil {
		return 0, 0, err
	}
	counts := []*uint64{&rows, &distinct}
	for i, what := range []string{"count(*)", "count(DISTINCT value)"} {
		err := w.node.Numbers(ctx, "SELECT "+what+"::BIGINT FROM samples", 1, func(v int64) { *counts[i] = uint64(v) })
		if err != nil {
			return 0, 0, err
		}
	}
	return rows, distinct, nil
}
