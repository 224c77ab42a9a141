package study

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/lab/rig"
)

// overheard is the listener at the first node of a tree; may be nil.
type overheard struct{ *rig.Overheard }

// overhear listens to live messages at a node, if the experiment wants that, and waits until some arrive.
func (t *tree) overhear(ctx context.Context, at *rig.Running) (*overheard, error) {
	if !t.bench.Flag("listen") {
		return nil, nil //nolint:nilnil // nobody listens
	}
	data := filepath.Join(t.trial.Dir, "data")
	heard, err := rig.Overhear(rig.Listener{
		Address: at.Bus, CA: filepath.Join(data, "tls", "ca.pem"), Key: filepath.Join(data, "admin.nk"),
	})
	if err != nil {
		return nil, err
	}
	err = until(ctx, func() (bool, error) {
		h, err := heard.Delays()
		return err == nil && h.Count() > 0, err
	})
	if err != nil {
		heard.Close()
		return nil, err
	}
	heard.Begin()
	return &overheard{heard}, nil
}

func (o *overheard) close() {
	if o != nil {
		o.Close()
	}
}

// record records what arrived through the warm-up and a window.
func (o *overheard) record(t *experiment.Trial, took time.Duration) error {
	if o == nil {
		return nil
	}
	h, err := o.Delays()
	if err != nil {
		return err
	}
	if h.Count() == 0 {
		return fault.E("study.overhear", fault.Timeout, "live", fmt.Errorf("nothing was heard live in %s", took))
	}
	t.Also("live median", "s", h.At(50).Seconds())
	t.Also("live p99", "s", h.At(99).Seconds())
	t.Also("last heard live after", "s", h.Most().Seconds())
	return nil
}
