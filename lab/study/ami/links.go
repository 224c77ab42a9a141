package ami

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"voltbus/lab/experiment"
	"voltbus/lab/metersim"
	"voltbus/lab/rig/cable"
)

// grades are links between a concentrator and a metering data system. Rates are those of the way up, which is the slow one.
func grades() map[string]cable.Grade {
	return map[string]cable.Grade{
		"none":        {},
		"adsl":        {Delay: 15 * time.Millisecond, BytesPerSecond: 1_000_000 / 8},
		"mobile":      {Delay: 40 * time.Millisecond, BytesPerSecond: 2_000_000 / 8, Stalls: 0.02, Stall: 300 * time.Millisecond},
		"power-line":  {Delay: 60 * time.Millisecond, BytesPerSecond: 128_000 / 8, Stalls: 0.05, Stall: 300 * time.Millisecond},
		"long-detour": {Delay: 250 * time.Millisecond, BytesPerSecond: 1_000_000 / 8},
	}
}

// poorLinks measures what passes a slow, long or bad link.
func poorLinks() experiment.Experiment {
	return experiment.Experiment{
		Name:     "ami-links",
		Title:    "Poor links between concentrator and metering data system",
		Question: "How many readings a second does one concentrator get over a slow, long or bad link, in bulks of b?",
		Source:   openQuestion + " It names ADSL, power line and mobile networks.",
		Method: append(common(),
			"Between the concentrator and the system lies a link on loopback that delays all bytes of both directions, lets through so many a second, and holds what follows for 300 ms now and then, as a lost packet does until it is sent again. adsl: 15 ms one way, 1 Mbit/s. mobile: 40 ms, 2 Mbit/s, 2 % of the reads held. power-line: 60 ms, 128 kbit/s, 5 % held. long-detour: 250 ms, 1 Mbit/s.",
			"The connection stays open: a new one for each request would add one round trip, and two with TLS."),
		Limits: []string{
			"The link carries bytes of TCP connections, and loses none: what a loss costs is the time until it is sent again, and not the lower rate to which TCP falls. Measured with real loss, long links with loss are slower.",
		},
		Metric: experiment.Metric{Name: "of one concentrator", Unit: "readings/s", Axis: "readings in a bulk", Higher: true},
		Settings: []experiment.Setting{
			{Name: "links", Default: "none,adsl,mobile,power-line,long-detour", Quick: "adsl", Doc: "kinds of links, a line each: none, adsl, mobile, power-line, long-detour"},
			{Name: "bulks", Default: "1,10,100,1000", Quick: "10,100", Doc: "sizes of a bulk, one case each"},
			{Name: "forms", Default: metersim.SOAP + "," + metersim.Block, Quick: metersim.Block, Doc: "of the messages, a line each"},
			{Name: "parallel", Default: "1", Doc: "requests that the concentrator has under way"},
			{Name: "gzip", Default: "false", Doc: "whether messages are compressed"},
			{Name: "warm-up", Default: "500ms", Quick: "200ms", Doc: "sent but not measured"},
			{Name: "window", Default: "4s", Quick: "1s", Doc: "how long readings are sent, the warm-up included"},
			{Name: "meters", Default: "1000", Quick: "200", Doc: "behind the concentrator"},
		},
		Run: runLinks,
	}
}

func runLinks(ctx context.Context, b *experiment.Bench) error {
	bulks, err := numbers(b, "bulks")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(b.Text("links"), ",") {
		g, ok := grades()[name]
		if !ok {
			return fmt.Errorf("setting links: %q is no kind of link: write none, adsl, mobile, power-line or long-detour", name)
		}
		for form := range strings.SplitSeq(b.Text("forms"), ",") {
			for _, n := range bulks {
				line := name + ", " + form
				c := experiment.Case{Name: line + ", " + bulk(n).Name, X: float64(n), Line: line}
				err := b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error { return over{g, form, n}.measure(ctx, b, t) })
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// over is bulks of a form and size over a link.
type over struct {
	grade cable.Grade
	form  string
	bulk  int
}

func (o over) measure(ctx context.Context, b *experiment.Bench, t *experiment.Trial) (err error) {
	p, err := open(ctx, b, t, metersim.Site{}, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	between, err := cable.New(strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, between.Close()) }()
	between.Degrade(o.grade, b.Seed())
	between.Plug()
	p.tokens, p.through = p.tokens[:1], "http://"+between.Addr()
	f := metersim.Fleet{
		Form: o.form, Gzip: b.Flag("gzip"), Kept: true, Members: max(1, b.Int("parallel")), Batch: o.bulk, Rhythm: metersim.Closed,
		Meters: max(1, b.Int("meters")), For: b.Duration("window"), WarmUp: min(b.Duration("warm-up"), b.Duration("window")/2),
	}
	s, err := p.play(ctx, f)
	if err != nil {
		return err
	}
	t.Value(s.Rate)
	s.record(t)
	t.Also("bytes a reading", "bytes", float64(s.Bytes)/float64(max(1, s.Sent)))
	_, err = p.settle(ctx)
	return err
}
