package ami

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"voltbus/api/client"
	"voltbus/lab/experiment"
	"voltbus/lab/machine"
	"voltbus/lab/metersim"
	"voltbus/operation/metering"
)

// A day of quarter hours has 96 readings of a meter.
const quarters = 96

// day is what importing and validating a day of many meters took.
type day struct {
	readings, meters    int
	imported, validated time.Duration // until all is on disk; until all is in the store and validated after that
	registered          time.Duration
	perMeter            float64 // bytes of memory that a meter took when it was registered
	perReading          float64 // bytes on disk, raw and validated together
	base                float64 // bytes of memory of a node without meters
	step                *step
}

// both is how long both took.
func (d *day) both() time.Duration { return d.imported + d.validated }

// batches is how many readings of different meters a request of an import holds.
const batches = 1000

// importDay registers meters, imports a day of them, and has it validated. meters is rounded up to a thousand.
func importDay(ctx context.Context, b *experiment.Bench, t *experiment.Trial, meters, concentrators int) (d *day, err error) {
	p, err := open(ctx, b, t, metersim.Site{}, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	p.interval = metersim.Quarter
	each := (meters/concentrators + batches - 1) / batches * batches
	each = max(each, batches)
	d = &day{meters: each * concentrators}
	d.readings = d.meters * quarters
	if err := d.enlist(ctx, p); err != nil {
		return nil, err
	}
	t.Report(experiment.Progress{Message: strconv.Itoa(d.meters) + " meters are registered"})
	d.step, err = p.play(ctx, metersim.Fleet{
		Form: b.Text("form"), Kept: true, Members: concentrators, Batch: batches, Meters: each, Rhythm: metersim.Closed,
		Requests: each * quarters / batches, For: longest,
	})
	if err != nil {
		return nil, err
	}
	d.imported = time.Duration(d.step.Took * float64(time.Second))
	began := time.Now()
	if _, err := p.settle(ctx); err != nil {
		return nil, err
	}
	j, err := client.Do(ctx, p.Client, metering.Validate, metering.Validation{Day: p.from.Format(time.DateOnly)})
	if err != nil {
		return nil, err
	}
	d.validated = time.Since(began)
	t.Also("channels of the day that were validated", "", float64(j.Channels))
	size, err := folder(filepath.Join(p.Data, "metering"))
	d.perReading = size / float64(d.readings)
	return d, err
}

// enlist registers the meters and measures what that takes.
func (d *day) enlist(ctx context.Context, p *plant) error {
	before, err := machine.NewMeter(p.Process()).Usage()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := p.register(ctx, d.meters); err != nil {
		return err
	}
	d.registered = time.Since(began)
	after, err := machine.NewMeter(p.Process()).Usage()
	d.base = float64(before.Memory)
	d.perMeter = max(float64(after.Memory)-d.base, 0) / float64(d.meters)
	return err
}

// folder returns how many bytes the files of a folder have.
func folder(dir string) (size float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		size += float64(info.Size())
		return err
	})
	return size, err
}

// record notes what stands beside the metric.
func (d *day) record(t *experiment.Trial) {
	t.Also("imported", "readings/s", float64(d.readings)/d.imported.Seconds())
	t.Also("stored and validated after another", "s", d.validated.Seconds())
	t.Also("registered", "meters/s", float64(d.meters)/d.registered.Seconds())
	t.Also("memory per meter", "B", d.perMeter)
	t.Also("disk per reading, raw and validated", "B", d.perReading)
	d.step.record(t)
}

var errScale = errors.New("is no scale; write a number above 0 and up to 1, such as 0.001")

func scaled(b *experiment.Bench) (float64, error) {
	v, err := strconv.ParseFloat(b.Text("scale"), 64)
	if err != nil || !(v > 0) || v > 1 {
		return 0, fmt.Errorf("setting scale: %q %w", b.Text("scale"), errScale)
	}
	return v, nil
}

// scaleSettings are those of runs that are a part of a larger one.
func scaleSettings(normal, quick string) []experiment.Setting {
	return []experiment.Setting{
		{Name: "scale", Default: normal, Quick: quick, Doc: "share of the published size; 1 is all of it"},
		{Name: "concentrators", Default: "8", Quick: "2", Doc: "that send at once, with bulks of 1,000 over kept connections"},
		{Name: "form", Default: metersim.SOAP, Doc: "of the messages: soap, soap12, json, csv, cim or block"},
	}
}

// itron imports and validates many readings.
func itron() experiment.Experiment {
	const published = 190e6
	run := experiment.Case{Name: "import, validate and store", X: 1}
	return experiment.Experiment{
		Name:     "ami-itron",
		Title:    "190 million readings in two hours, imported, validated and stored",
		Question: "How many readings a second does one metering data system import, validate and store, from the first request to the last validated day?",
		Source:   source + " It quotes for comparison: Itron's system imported, validated and stored 190 million readings in two hours, which is 26,389/s, on servers.",
		Method: []string{
			"A metering data system in a process of its own; simulated concentrators send a day of quarter hours of all meters in bulks of 1,000 without pause. Then the node is told to validate the day with the rules of its defaults. The figure is all readings, divided by the time from the first request to the end of validation.",
			"scale says which share of the 190 million readings is sent. What the full size would take is the same rate extrapolated; it is named as that.",
		},
		Limits:    []string{together, "The readings are right and complete: nothing is estimated. Meters are registered before the clock starts.", "A share of the full size fits into memory better than all of it."},
		Metric:    experiment.Metric{Name: "imported, validated and stored", Unit: "readings/s", Axis: "run", Higher: true},
		Published: []experiment.Published{{Case: run, Figures: []experiment.Figure{{Label: "Itron, as AMI-2011 quotes it", Value: 26389}}}},
		Settings:  scaleSettings("0.005", "0.001"),
		Run: func(ctx context.Context, b *experiment.Bench) error {
			scale, err := scaled(b)
			if err != nil {
				return err
			}
			err = b.Measure(ctx, run, func(ctx context.Context, t *experiment.Trial) error {
				d, err := importDay(ctx, b, t, int(published*scale/quarters), max(1, b.Int("concentrators")))
				if err != nil {
					return err
				}
				t.Value(float64(d.readings) / d.both().Seconds())
				d.record(t)
				if t.Repeat == 0 {
					b.Note("%d readings of %d meters were sent: %.3g of the published 190 million.", d.readings, d.meters, float64(d.readings)/published)
				}
				return nil
			})
			if err == nil {
				b.Found(experiment.Finding{
					Key: "itron-hours", Name: "190 million readings would take", Value: published / b.Median(run.Name) / 3600, Unit: "h", Published: 2,
					Note: "extrapolated from this run's rate, not measured",
				})
			}
			return err
		},
	}
}

// dehems sends one reading of each of many meters.
func dehems() experiment.Experiment {
	const published = 3e6
	run := experiment.Case{Name: "readings of all meters", X: 1}
	return experiment.Experiment{
		Name:     "ami-dehems",
		Title:    "Three million simulated meters",
		Question: "How many readings a second does one metering data system take of many meters, each of which sends now and then?",
		Source:   source + " It quotes for comparison: DEHEMS took 40,000 readings/s of 3 million simulated meters.",
		Method: []string{
			"A metering data system in a process of its own; meters are registered, and then simulated concentrators send a day of quarter hours of all of them in bulks of 1,000 without pause. The figure is the readings that were accepted, divided by the time.",
			"scale says which share of the 3 million meters there is. What the full number takes in memory is extrapolated from the meters that there are; it is named as that.",
		},
		Limits:    []string{together, "A share of the meters fits into caches better than all of them."},
		Metric:    experiment.Metric{Name: "accepted", Unit: "readings/s", Axis: "run", Higher: true},
		Published: []experiment.Published{{Case: run, Figures: []experiment.Figure{{Label: "DEHEMS, as AMI-2011 quotes it", Value: 40000}}}},
		Settings:  scaleSettings("0.005", "0.001"),
		Run: func(ctx context.Context, b *experiment.Bench) error {
			scale, err := scaled(b)
			if err != nil {
				return err
			}
			err = b.Measure(ctx, run, func(ctx context.Context, t *experiment.Trial) error {
				d, err := importDay(ctx, b, t, int(published*scale), max(1, b.Int("concentrators")))
				if err != nil {
					return err
				}
				t.Value(float64(d.readings) / d.imported.Seconds())
				d.record(t)
				if t.Repeat == 0 {
					b.Note("There were %d meters: %.3g of the published 3 million.", d.meters, float64(d.meters)/published)
				}
				return nil
			})
			if err == nil {
				rate := b.Median(run.Name)
				b.Found(experiment.Finding{Key: "dehems-round", Name: "A reading of each of 3 million meters would take", Value: published / rate, Unit: "s", Published: 75, Note: "extrapolated from this run's rate, not measured"})
				b.Found(experiment.Finding{Key: "dehems-memory", Name: "3 million meters would take in memory", Value: b.MedianOf(run.Name, "memory per meter") * published / 1e9, Unit: "GB", Note: "extrapolated from the meters of this run, not measured"})
			}
			return err
		},
	}
}
