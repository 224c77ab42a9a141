package ami

import (
	"context"
	"errors"
	"fmt"

	"voltbus/lab/experiment"
	"voltbus/lab/metersim"
)

// open questions of the document, which names them and measures none.
const openQuestion = source + " It names the question as open, and gives no figure."

// bulkFromMeters measures meters that send several readings of their own at once, without a concentrator.
func bulkFromMeters() experiment.Experiment {
	return experiment.Experiment{
		Name:     "ami-bulk",
		Title:    "Bulks from meters themselves",
		Question: "How many readings a second does a metering data system take, if meters keep b readings of their own and send them without a concentrator?",
		Source:   openQuestion,
		Method: append(common(),
			"Each of the meters that send at a time is a member with intervals of its own: a request holds b consecutive readings of one meter, where that of a concentrator holds one of each of b meters. They send without pause."),
		Limits: []string{together, "Meters in the field send each day or each hour; here a few send all the time, which is as much work for the system."},
		Metric: experiment.Metric{Name: "capacity", Unit: "readings/s", Axis: "readings in a request", Higher: true},
		Settings: append([]experiment.Setting{
			{Name: "bulks", Default: "1,4,24,96", Quick: "1,24", Doc: "readings of a meter in a request, one case each"},
			{Name: "at-once", Default: "500", Quick: "20", Doc: "meters that send at a time"},
		}, shared("500ms", "3s")...),
		Run: func(ctx context.Context, b *experiment.Bench) error {
			return steps{"bulks", bulk, senders, func(f *metersim.Fleet, n int) {
				f.Members, f.Meters, f.Batch = max(1, b.Int("at-once")), 1, n
			}}.measure(ctx, b)
		},
	}
}

// parallelRequests measures one concentrator that does not wait for an answer before it sends the next request.
func parallelRequests() experiment.Experiment {
	return experiment.Experiment{
		Name:     "ami-parallel",
		Title:    "Parallel requests of one concentrator",
		Question: "How many readings a second does one concentrator get to a metering data system, if it has several requests under way?",
		Source:   openQuestion + " Its concentrators send one request after another.",
		Method: append(common(),
			"Members of one fleet stand for the requests that one concentrator has under way: they share its token, and each has meters of its own. They send without pause."),
		Limits: []string{together, "Without a delay between the two, one request at a time waits for the disk only; over a long link parallel requests gain more: see ami-links."},
		Metric: experiment.Metric{Name: "of one concentrator", Unit: "readings/s", Axis: "requests under way", Higher: true},
		Settings: append([]experiment.Setting{
			{Name: "parallel", Default: "1,2,4,8,16", Quick: "1,4", Doc: "requests under way, one case each"},
			{Name: "bulk", Default: "100", Quick: "10", Doc: "readings of a request"},
		}, shared("500ms", "3s")...),
		Run: func(ctx context.Context, b *experiment.Bench) error {
			return steps{"parallel", underWay, 1, func(f *metersim.Fleet, n int) {
				f.Members, f.Batch = n, max(1, b.Int("bulk"))
			}}.measure(ctx, b)
		},
	}
}

// steps are the numbers of a setting, for each of which a fleet sends without pause.
type steps struct {
	setting string
	named   func(int) experiment.Case
	tokens  int // that the fleet has
	set     func(*metersim.Fleet, int)
}

func (o steps) measure(ctx context.Context, b *experiment.Bench) error {
	list, err := numbers(b, o.setting)
	if err != nil {
		return err
	}
	for _, n := range list {
		err := b.Measure(ctx, o.named(n), func(ctx context.Context, t *experiment.Trial) (err error) {
			p, err := open(ctx, b, t, metersim.Site{}, false)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Close()) }()
			p.tokens = p.tokens[:o.tokens]
			f := fleet(b)
			f.Rhythm = metersim.Closed
			o.set(&f, n)
			s, err := p.play(ctx, f)
			if err != nil {
				return err
			}
			t.Value(s.Rate)
			s.record(t)
			if t.Repeat == 0 {
				b.Note("%s: %s.", o.named(n).Name, s.bound())
			}
			_, err = p.settle(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// underWay is the case of so many requests of one concentrator at a time.
func underWay(n int) experiment.Case {
	return experiment.Case{Name: fmt.Sprintf("%d under way", n), X: float64(n)}
}
