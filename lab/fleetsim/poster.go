package fleetsim

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// poster is a device that posts its messages over HTTP, one after another.
type poster struct {
	p       *process
	number  int
	shard   *shard
	wishes  chan wish
	planned bool
	open    atomic.Int64 // messages that wait, and the one without an answer
}

// want implements wanter.
func (d *poster) want(w wish) {
	d.open.Add(1)
	select {
	case d.wishes <- w:
		d.shard.due(w.due, len(d.wishes) > 1)
	default:
		d.open.Add(-1)
		d.shard.skipped()
	}
}

// settled reports whether nothing waits, and nothing has no answer.
func (d *poster) settled() bool { return d.open.Load() == 0 }

// run posts what is wanted until ctx ends.
func (d *poster) run(ctx context.Context) {
	var body []byte
	for value := uint64(1); ; value++ {
		select {
		case <-ctx.Done():
			return
		case w := <-d.wishes:
			body = appendMessage(body[:0], w.due, value, w.octets)
			d.shard.sent()
			err := d.post(ctx, body, value)
			d.shard.posted(w.due, err == nil)
			if err != nil {
				d.p.failed(err)
			}
			d.open.Add(-1)
		}
	}
}

func (d *poster) post(ctx context.Context, body []byte, value uint64) error {
	f := &d.p.fleet
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	topic := named(f.Topic, d.number, int(value%uint64(f.Topics))) //nolint:gosec // few
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.HTTP+"/mqtt/publish/"+topic, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.SetBasicAuth(fmt.Sprint(f.Prefix, d.number), SecretOf(f.Secret, d.number))
	a, err := d.p.http.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(io.LimitReader(a.Body, 1000))
	if err == nil && a.StatusCode != http.StatusNoContent {
		err = fmt.Errorf("status %d: %s", a.StatusCode, text)
	}
	return err
}

// newClient returns what posts.
func (p *process) newClient() *http.Client {
	t := &http.Transport{MaxIdleConnsPerHost: p.fleet.Posters + 1, IdleConnTimeout: time.Minute}
	if p.trust != nil {
		t.TLSClientConfig = p.trust.Clone()
		t.TLSClientConfig.ServerName = ""
	}
	return &http.Client{Transport: t}
}
