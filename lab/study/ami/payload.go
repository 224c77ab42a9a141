package ami

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/lab/metersim"
)

func runPayload(ctx context.Context, b *experiment.Bench) error {
	table := experiment.Table{
		Title: "What the forms cost",
		Head:  []string{"messages", "bytes a reading", "share of readings", "readings/s", "processor of the node per reading, µs"},
	}
	chosen := strings.Split(b.Text("forms"), ",")
	if i := slices.IndexFunc(chosen, func(form string) bool { return !slices.Contains(forms(), form) }); i >= 0 {
		return fault.E("ami.payload", fault.Invalid, "forms", fmt.Errorf("there is no form %q; write some of %s", chosen[i], strings.Join(forms(), ",")))
	}
	for _, s := range shapes(max(1, b.Int("bulk")), chosen) {
		c := s.named()
		err := b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error { return s.measure(ctx, b, t) })
		if err != nil {
			return err
		}
		table.Rows = append(table.Rows, []string{
			c.Name, experiment.Round(b.MedianOf(c.Name, "bytes a reading")), fmt.Sprintf("%.0f %%", b.Median(c.Name)),
			experiment.Round(b.MedianOf(c.Name, "accepted")), experiment.Round(b.MedianOf(c.Name, "processor of the node per reading")),
		})
	}
	b.Table(table)
	return nil
}

func (s shape) measure(ctx context.Context, b *experiment.Bench, t *experiment.Trial) (err error) {
	p, err := open(ctx, b, t, metersim.Site{}, s.tls)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	f := metersim.Fleet{
		Form: s.form, Gzip: s.gzip, Kept: s.kept, Members: max(1, b.Int("concentrators")), Batch: s.bulk, Rhythm: metersim.Closed,
		Meters: max(1, b.Int("meters")), For: b.Duration("window"), WarmUp: min(b.Duration("warm-up"), b.Duration("window")/2),
	}
	got, err := p.play(ctx, f)
	if err != nil {
		return err
	}
	n := float64(got.Sent)
	t.Value(100 * float64(got.Payload) / float64(got.Bytes))
	t.Also("bytes a reading", "bytes", float64(got.Bytes)/n)
	t.Also("accepted", "readings/s", got.Rate)
	t.Also("processor of the node per reading", "µs", got.node.CPU/n*1e6)
	got.record(t)
	_, err = p.settle(ctx)
	return err
}
