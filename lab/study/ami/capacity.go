package ami

import (
	"context"
	"errors"

	"voltbus/lab/experiment"
	"voltbus/lab/metersim"
)

// capacityOverBulk measures what an MDS takes, over the size of bulks.
func capacityOverBulk() experiment.Experiment {
	return experiment.Experiment{
		Name:     "ami-3a",
		Title:    "Capacity of the metering data system over the size of bulks",
		Question: "How many readings a second does a metering data system take and make durable, if concentrators send bulks of b readings?",
		Source:   source + " Experiment III: the capacity converges to about 3,900 readings/s at b = 100.",
		Method: append(common(),
			"The concentrators send without pause: the next request follows the answer. The figure is what was accepted after the warm-up; the time until all of it was in the store stands beside it.",
			"With peers: as many clients insert the same rows into a table of PostgreSQL whose key is meter, channel and end, one INSERT a reading, or one a bulk, over connections that stay open, without a web service before it."),
		Limits: []string{together, "The published system answered when its database had the rows; this one answers when its log is flushed, and the store follows."},
		Metric: experiment.Metric{Name: "capacity", Unit: "readings/s", Axis: "readings in a bulk", Higher: true},
		Published: []experiment.Published{
			{Case: bulk(100), Figures: []experiment.Figure{{Label: published, Value: 3900}}},
		},
		Settings: append([]experiment.Setting{
			{Name: "bulks", Default: "1,10,100,1000", Quick: "10,100", Doc: "sizes of a bulk, one case each; the document's: 10..200..10"},
			{Name: "concentrators", Default: "8", Quick: "4", Doc: "that send at once"},
		}, shared("500ms", "3s")...),
		Run: func(ctx context.Context, b *experiment.Bench) error {
			bulks, err := numbers(b, "bulks")
			if err != nil {
				return err
			}
			for _, n := range bulks {
				if err := b.Measure(ctx, bulk(n), func(ctx context.Context, t *experiment.Trial) error { return saturate(ctx, b, t, n) }); err != nil {
					return err
				}
			}
			return nil
		},
		Peers: conventional(),
	}
}

// saturate measures what an MDS takes of concentrators that send bulks of n readings without pause.
func saturate(ctx context.Context, b *experiment.Bench, t *experiment.Trial, n int) (err error) {
	p, err := open(ctx, b, t, metersim.Site{}, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	f := fleet(b)
	f.Members, f.Batch, f.Rhythm = max(1, b.Int("concentrators")), n, metersim.Closed
	s, err := p.play(ctx, f)
	if err != nil {
		return err
	}
	t.Value(s.Rate)
	s.record(t)
	if t.Repeat == 0 {
		b.Note("%s: %s.", bulk(n).Name, s.bound())
	}
	took, err := p.settle(ctx)
	t.Also("all in the store after another", "s", took.Seconds())
	return err
}
