package study

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/identity"
	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/load"
	"voltbus/lab/machine"
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
			"The offered rate is doubled until the node refuses, or answers less than 95 % of what was offered in the time, or most-rate is reached.",
			"Every reading has a number of its own. At the end all rows are counted in the store: acknowledged must be found, each once.",
		},
		Limits: []string{
			"The generator shares the processors with the node; the report says whether it kept to its schedule.",
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
			most := max(1, b.Int("most-rate"))
			for rate := min(most, max(1, b.Int("first-rate"))); rate <= most; rate *= 2 {
				kept := true
				c := experiment.Case{Name: count(rate) + " samples/s offered", X: float64(rate)}
				err := b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error {
					w := lineTrial{bench: b, trial: t, rate: rate, batch: max(1, b.Int("batch")), points: max(1, b.Int("points"))}
					ok, err := w.run(ctx)
					kept = kept && ok
					return err
				})
				if err != nil {
					return err
				}
				if !kept {
					b.Note("The node did not keep up with %s samples/s.", count(rate))
					return nil
				}
			}
			b.Note("The node kept up with every rate that was offered.")
			return nil
		},
	}
}

// lineTrial is one trial. The counts are of readings, from many goroutines.
type lineTrial struct {
	bench               *experiment.Bench
	trial               *experiment.Trial
	rate, batch, points int

	url, token           string
	client               http.Client
	bodies               sync.Pool // of *bytes.Buffer
	sent, taken, refused atomic.Uint64
}

func (w *lineTrial) run(ctx context.Context) (kept bool, err error) {
	file, err := rig.Site{}.Write(w.trial.Dir)
	if err != nil {
		return false, err
	}
	n, err := rig.Open(w.bench.Program(), file)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if w.token, err = identity.ReadToken(filepath.Join(w.trial.Dir, "data", identity.AdminTokenFile)); err != nil {
		return false, err
	}
	workers := max(1, w.bench.Int("connections"))
	transport := &http.Transport{MaxIdleConnsPerHost: workers, DisableCompression: true}
	defer transport.CloseIdleConnections()
	w.client.Transport, w.url = transport, n.URL+"/api/v2/write?org=lab&bucket=lab&precision=ns"
	meter := machine.NewMeter(n.Process())
	window := w.bench.Duration("window")
	o, err := load.Run(ctx, load.Plan{
		Rate: float64(w.rate) / float64(w.batch), For: window, Workers: workers,
		WarmUp: min(w.bench.Duration("warm-up"), window/2),
		Watch: func(m load.Moment) {
			w.trial.Report(experiment.Progress{Rate: m.Rate * float64(w.batch), P50: m.P50.Seconds(), P99: m.P99.Seconds()})
		},
	}, w.send)
	if err != nil {
		return false, err
	}
	if u, err := meter.Usage(); err == nil {
		w.trial.Usage("node", u)
	}
	// The last body is due before the window ends, so an answer may be there earlier than the window.
	reached := float64(w.taken.Load()) / max(o.Took, window).Seconds()
	w.trial.Value(reached)
	w.trial.Latency(o.Latency)
	w.trial.Generator(o.HeadRoom)
	if o.First != nil {
		w.bench.Note("%s samples/s: %d bodies failed, the first: %.300s", count(w.rate), o.Failed, o.First)
	}
	return o.Failed == 0 && reached >= 0.95*float64(w.rate), w.audit(ctx, n)
}

// send sends body n. Its readings are numbered from n times the batch.
func (w *lineTrial) send(ctx context.Context, _ int, n int64) error {
	body, ok := w.bodies.Get().(*bytes.Buffer)
	if !ok {
		body = &bytes.Buffer{}
	}
	defer w.bodies.Put(body)
	body.Reset()
	w.fill(body, n*int64(w.batch))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body.Bytes()))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Token "+w.token)
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	w.sent.Add(uint64(w.batch))
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, 1000))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusNoContent {
		w.refused.Add(uint64(w.batch))
		return fmt.Errorf("status %d: %s", resp.StatusCode, said)
	}
	w.taken.Add(uint64(w.batch))
	return nil
}

// fill writes readings whose value is their number, a microsecond apart.
func (w *lineTrial) fill(body *bytes.Buffer, first int64) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	var line []byte
	for i := range int64(w.batch) {
		number := first + i
		line = append(line[:0], "lab,device=d"...)
		line = strconv.AppendInt(line, number%int64(w.points), 10)
		line = append(line, " value="...)
		line = strconv.AppendInt(line, number, 10)
		line = append(line, "i "...)
		line = strconv.AppendInt(line, begin+number*int64(time.Microsecond), 10)
		body.Write(append(line, '\n'))
	}
}

// audit counts what the store has.
func (w *lineTrial) audit(ctx context.Context, n *rig.Running) error {
	if _, err := n.Settled(ctx); err != nil {
		return err
	}
	var found []uint64
	for _, what := range []string{"count(*)", "count(DISTINCT value)"} {
		err := n.Numbers(ctx, "SELECT "+what+"::BIGINT FROM samples", 1, func(v int64) { found = append(found, uint64(v)) })
		if err != nil {
			return err
		}
	}
	b := account.Balance{
		Sent: w.sent.Load(), Acknowledged: w.taken.Load(), Refused: w.refused.Load(), Found: found[1], Repeated: found[0] - found[1],
	}
	b.Unanswered = b.Sent - b.Acknowledged - b.Refused
	b.Lost = b.Acknowledged - min(b.Acknowledged, b.Found)
	b.Foreign = b.Found - min(b.Found, b.Acknowledged+b.Unanswered)
	w.trial.Account(b)
	return nil
}
