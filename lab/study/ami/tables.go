package ami

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"voltbus/lab/experiment"
	"voltbus/lab/meterplan"
)

// The cases of ami-tables.
const (
	limitOfConcentrator = "concentrator"
	limitOfMDS          = "metering data system"
	limitOfValidation   = "import and validation"
)

// tables measures the limits of the components and derives how many meters they serve.
func tables() experiment.Experiment {
	return experiment.Experiment{
		Name:     meterplan.Experiment,
		Title:    "Limits of the components, and the meters that they serve",
		Question: "How many meters do a concentrator and a metering data system serve at intervals of 1, 5 and 15 minutes?",
		Source:   source + " Its tables 1 and 2 derive meters from the limits of 500 readings/s of a concentrator and 4,000 of an MDS.",
		Method: []string{
			"The limit of a concentrator is the highest rate of single readings at which it is stable, found as in ami-2. That of a metering data system is what it takes in bulks without pause, as in ami-3a. A day of quarter hours is imported and validated as in ami-itron, which also gives memory per meter and disk per reading.",
			"The tables multiply the limits with the interval: a meter sends one reading in each. \"voltbus meter plan\" reads the limits out of this run.",
		},
		Limits: []string{together, "The tables leave nothing to spare, as the document's; the planner does.", "Several metering data systems are one's limit, multiplied; they were not measured together."},
		Metric: experiment.Metric{Name: "limit", Unit: "readings/s", Axis: "component", Higher: true},
		Published: []experiment.Published{
			{Case: experiment.Case{Name: limitOfConcentrator, X: 1}, Figures: []experiment.Figure{{Label: published, Value: 500}}},
			{Case: experiment.Case{Name: limitOfMDS, X: 1}, Figures: []experiment.Figure{{Label: published, Value: 4000}}},
		},
		Settings: append([]experiment.Setting{
			{Name: "bulk", Default: "120", Doc: "readings of a bulk"},
			{Name: "concentrators", Default: "8", Quick: "2", Doc: "that send at once to the metering data system"},
			{Name: "day-meters", Default: "8000", Quick: "1000", Doc: "meters of the day that is imported and validated"},
			{Name: "first-rate", Default: "454", Quick: "200", Doc: "readings a second of the first step at a concentrator"},
			{Name: "most-rate", Default: "8000", Quick: "200", Doc: "readings a second of the last step"},
			{Name: "halvings", Default: "2", Quick: "0", Doc: "how often the last interval is halved"},
			{Name: "period", Default: "1s", Quick: "500ms", Doc: "that a meter sleeps between two readings"},
			{Name: "rhythm", Default: "closed", Doc: "of the meters: closed or open, see ami-2"},
			{Name: "age", Default: "1s", Doc: "how long a reading waits at most for its bulk to fill"},
			{Name: "kept-bulks", Default: "false", Doc: "whether the concentrator's connection to the MDS stays open"},
		}, shared("500ms", "3s")...),
		Run: runTables,
	}
}

func runTables(ctx context.Context, b *experiment.Bench) error {
	err := b.Measure(ctx, experiment.Case{Name: limitOfConcentrator, X: 1}, func(ctx context.Context, t *experiment.Trial) (err error) {
		c, err := collect(ctx, b, t, max(1, b.Int("bulk")))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.close()) }()
		rate, err := c.limit(ctx)
		t.Value(rate)
		return err
	})
	if err != nil {
		return err
	}
	err = b.Measure(ctx, experiment.Case{Name: limitOfMDS, X: 1}, func(ctx context.Context, t *experiment.Trial) error {
		return saturate(ctx, b, t, max(1, b.Int("bulk")))
	})
	if err != nil {
		return err
	}
	var base float64
	err = b.Measure(ctx, experiment.Case{Name: limitOfValidation, X: 1}, func(ctx context.Context, t *experiment.Trial) error {
		d, err := importDay(ctx, b, t, max(1, b.Int("day-meters")), 1)
		if err != nil {
			return err
		}
		base = d.base
		t.Value(float64(d.readings) / d.both().Seconds())
		d.record(t)
		return nil
	})
	if err != nil {
		return err
	}
	l := meterplan.Limits{
		Concentrator: b.Median(limitOfConcentrator), MDS: b.Median(limitOfMDS), Validated: b.Median(limitOfValidation),
		MemoryBase: base, MemoryPerMeter: b.MedianOf(limitOfValidation, "memory per meter"),
		DiskPerReading: b.MedianOf(limitOfValidation, "disk per reading, raw and validated"),
	}
	for _, f := range l.Findings() {
		b.Found(f)
	}
	b.Table(tableOne(&l))
	b.Table(tableTwo(&l))
	return nil
}

// intervals are those of the document's tables.
func intervals() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}
}

// tableOne is meters per concentrator and per MDS.
func tableOne(l *meterplan.Limits) experiment.Table {
	t := experiment.Table{
		Title: "Table 1: meters of one component, by interval",
		Head:  []string{"interval", "a concentrator, here", "published", "a metering data system, here", "published"},
	}
	for _, i := range intervals() {
		t.Rows = append(t.Rows, []string{
			fmt.Sprintf("%.0f min", i.Minutes()), people(l.Concentrator * i.Seconds()), people(500 * i.Seconds()), people(l.MDS * i.Seconds()), people(4000 * i.Seconds()),
		})
	}
	return t
}

// The document's load of a concentrator in its table 2, in readings a second, and how many of them an MDS takes.
const (
	tableTwoRate          = 60
	tableTwoConcentrators = 66
)

// tableTwo is meters of one to three MDS with the concentrators that they take.
func tableTwo(l *meterplan.Limits) experiment.Table {
	t := experiment.Table{
		Title: "Table 2: meters of 1 to 3 metering data systems, with concentrators of 60 readings/s",
		Head:  []string{"systems", "concentrators of each, here", "published"},
	}
	for _, i := range intervals() {
		name := fmt.Sprintf("meters at %.0f min", i.Minutes())
		t.Head = append(t.Head, name+", here", "published")
	}
	each := math.Floor(l.MDS / tableTwoRate)
	for systems := 1.0; systems <= 3; systems++ {
		row := []string{fmt.Sprintf("%.0f", systems), fmt.Sprintf("%.0f", each), strconv.Itoa(tableTwoConcentrators)}
		for _, i := range intervals() {
			row = append(row, people(systems*each*tableTwoRate*i.Seconds()), people(systems*tableTwoConcentrators*tableTwoRate*i.Seconds()))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// people writes a large number for people.
func people(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.4g M", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.4g k", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
}
