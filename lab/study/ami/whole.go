package ami

import (
	"context"
	"math"
	"strings"

	"voltbus/lab/experiment"
	"voltbus/lab/metersim"
)

// wholeSystem adds concentrators until the MDS does not keep up.
func wholeSystem() experiment.Experiment {
	e := experiment.Experiment{
		Name:     "ami-4",
		Title:    "Concentrators of 60 readings a second each, until the system is full",
		Question: "How many concentrators that send 120 readings each two seconds does one metering data system serve, and is the rate linear up to there?",
		Source:   source + " Experiment IV: 20 … 75 concentrators, a bulk of 120 each 2 s: linear with 60 readings/s a concentrator up to the limit of 4,000 readings/s, which 66 concentrators send.",
		Method: append(common(),
			"Each concentrator has a request due each period, and sends it when the one before was answered; they begin a period, divided by their number, after one another. The figure is what was accepted after the warm-up. More concentrators follow until less than 95 % of what they offer is accepted."),
		Limits: []string{together, "As long as the system keeps up, the figure is the offered rate.", "The concentrators are simulated: they have their readings already, and do not collect them from meters. ami-2 measures concentrators."},
		Metric: experiment.Metric{Name: "accepted", Unit: "readings/s", Axis: "concentrators", Higher: true},
		Settings: append([]experiment.Setting{
			{Name: "concentrators", Default: "20,66,660,2000", Quick: "20,66", Doc: "one case each, rising; the document's: 20..75..1"},
			{Name: "bulk", Default: "120", Doc: "readings of a request"},
			{Name: "period", Default: "2s", Doc: "between two requests of a concentrator"},
		}, shared("2s", "6s")...),
		Run: runWhole,
	}
	for n, rate := range map[int]float64{20: 1200, 66: 4000} {
		e.Published = append(e.Published, experiment.Published{Case: concentrators(n, 60, ofEach), Figures: []experiment.Figure{{Label: published, Value: rate}}})
	}
	for i := range e.Settings {
		switch e.Settings[i].Name {
		case "meters":
			e.Settings[i].Default = "120"
		case "window":
			e.Settings[i].Quick = "5s"
		}
	}
	return e
}

func runWhole(ctx context.Context, b *experiment.Bench) error {
	list, err := numbers(b, "concentrators")
	if err != nil {
		return err
	}
	size, period := max(1, b.Int("bulk")), b.Duration("period")
	c := func(n int) experiment.Case { return concentrators(n, float64(size)/period.Seconds(), ofEach) }
	most := 0.0
	for _, n := range list {
		offered := float64(n*size) / period.Seconds()
		share := 1.0
		err := b.Measure(ctx, c(n), func(ctx context.Context, t *experiment.Trial) error {
			return withPlant(ctx, b, t, func(p *plant) error {
				f := fleet(b)
				f.Members, f.Batch, f.Rhythm, f.Period = n, size, metersim.Serial, period
				s, err := p.play(ctx, f)
				if err != nil {
					return err
				}
				share = min(share, s.Rate/offered)
				t.Value(s.Rate)
				t.Also("offered", "readings/s", offered)
				t.Also("actual by expected run time", "", math.Max(1, s.Stretch))
				s.record(t)
				if t.Repeat == 0 && s.Rate < kept*offered {
					b.Note("%s: %s.", c(n).Name, s.bound())
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
		most = max(most, b.Median(c(n).Name))
		if share < kept {
			b.Found(experiment.Finding{Key: "system-rate", Name: "Limit of the whole system", Value: most, Unit: "readings/s", Published: 4000, Note: "the highest rate that was accepted; more concentrators did not raise it as they should"})
			return nil
		}
	}
	b.Found(experiment.Finding{Key: "system-rate", Name: "The whole system took at least", Value: most, Unit: "readings/s", Published: 4000, Note: "no limit was found up to here"})
	return nil
}

// payload measures what the forms of messages cost.
func payload() experiment.Experiment {
	e := experiment.Experiment{
		Name:     "ami-payload",
		Title:    "What the form of messages costs",
		Question: "Which share of a message says which meter, channel, time and value, and how many readings a second does the metering data system take in each form, compressed or not, and over TLS?",
		Source:   source + " One reading is 9 % of a SOAP request; in a bulk of 100 readings are 30 % of it.",
		Method: append(common(),
			"The share is that of the bytes of meter, channel, end and value in all bytes of a request as it was sent, head and body; for compressed messages the readings are counted as they are without compression, so that a share may be above 100 %. The concentrators send without pause; the rates stand in the table below."),
		Limits: []string{together, "The published share counts an identifier, a time and a value of other lengths.", "With TLS and a new connection for each request a session is resumed.", "A node takes JSON only uncompressed.", "In SenML and blocks end and value are binary numbers, of 8 bytes each in the share."},
		Metric: experiment.Metric{Name: "share of the readings in a message", Unit: "%", Axis: "readings in a bulk", Higher: true},
		Settings: append([]experiment.Setting{
			{Name: "forms", Default: strings.Join(forms(), ","), Doc: "that are compared"},
			{Name: "bulk", Default: "100", Doc: "readings of the larger messages"},
			{Name: "concentrators", Default: "4", Quick: "2", Doc: "that send at once"},
		}, sized(shared("200ms", "1s"))...),
		Run: runPayload,
	}
	for n, share := range map[int]float64{1: 9, 100: 30} {
		e.Published = append(e.Published, experiment.Published{Case: shape{form: metersim.SOAP, bulk: n}.named(), Figures: []experiment.Figure{{Label: published, Value: share}}})
	}
	return e
}

// shape is a form of messages.
type shape struct {
	form            string
	bulk            int
	gzip, tls, kept bool
}

func (s shape) named() experiment.Case {
	name := map[string]string{metersim.SOAP: "SOAP 1.1", metersim.SOAP12: "SOAP 1.2", metersim.JSON: "JSON", metersim.CSV: "CSV", metersim.CIM: "CIM XML", metersim.SenML: "SenML CBOR", metersim.Block: "block"}[s.form]
	line := name
	name += ", " + bulk(s.bulk).Name
	if s.gzip {
		name += ", gzip"
		line += ", gzip"
	}
	if s.tls {
		name += ", TLS"
	}
	if s.kept {
		name += ", kept"
	}
	return experiment.Case{Name: name, X: float64(s.bulk), Line: line}
}

// forms are all of which the cost can be compared.
func forms() []string {
	return []string{metersim.SOAP, metersim.JSON, metersim.CIM, metersim.CSV, metersim.SenML, metersim.Block}
}

// shapes are those that are compared.
func shapes(large int, forms []string) []shape {
	var out []shape
	for _, form := range forms {
		out = append(out, shape{form: form, bulk: 1}, shape{form: form, bulk: large})
		if form != metersim.JSON {
			out = append(out, shape{form: form, bulk: large, gzip: true})
		}
	}
	for _, form := range forms {
		out = append(out, shape{form: form, bulk: large, kept: true}, shape{form: form, bulk: large, tls: true}, shape{form: form, bulk: large, tls: true, kept: true})
	}
	for _, form := range forms {
		if form != metersim.JSON && form != metersim.CSV {
			out = append(out, shape{form: form, bulk: large, gzip: true, tls: true, kept: true})
		}
	}
	return out
}
