package experiment

import (
	"voltbus/lab/account"
	"voltbus/lab/load"
	"voltbus/lab/machine"
)

// Trial is one measurement of one case. One goroutine uses it; only Report may be called from
// others.
type Trial struct {
	Dir    string // an empty directory that is removed afterwards
	Repeat int    // from 0

	measured *Measured
	report   *reporter
	meter    *machine.Meter
}

// Value records the trial's figure in the metric's unit. Each trial records one.
func (t *Trial) Value(v float64) { t.measured.Values = append(t.measured.Values, v) }

// Also records a figure beside the metric, such as "slowest listener" in s.
func (t *Trial) Also(name, unit string, v float64) {
	for i := range t.measured.Also {
		if a := &t.measured.Also[i]; a.Name == name {
			a.Values = append(a.Values, v)
			return
		}
	}
	t.measured.Also = append(t.measured.Also, Extra{Name: name, Unit: unit, Values: []float64{v}})
}

// Latency adds the latencies of the trial to those of the case.
func (t *Trial) Latency(h *load.Histogram) {
	if t.measured.latency == nil {
		t.measured.latency = load.NewHistogram()
	}
	t.measured.latency.Merge(h)
}

// Account adds the trial's account to that of the case.
func (t *Trial) Account(a account.Balance) {
	if t.measured.Account == nil {
		t.measured.Account = &account.Balance{}
	}
	t.measured.Account.Add(a)
}

// Generator adds how well the load generator kept to its schedule.
func (t *Trial) Generator(h load.HeadRoom) {
	if t.measured.Generator == nil {
		t.measured.Generator = &load.HeadRoom{}
	}
	t.measured.Generator.Add(h)
}

// Usage records what a part of the experiment used, such as "node" or "generator". The process that
// runs the trial is recorded by itself.
func (t *Trial) Usage(part string, u machine.Usage) {
	for i := range t.measured.Usage {
		if p := &t.measured.Usage[i]; p.Part == part {
			p.Usage.Add(u)
			return
		}
	}
	t.measured.Usage = append(t.measured.Usage, PartUsage{Part: part, Usage: u})
}

func (t *Trial) collected(c Collections) {
	if t.measured.Collected == nil {
		t.measured.Collected = &Collections{}
	}
	t.measured.Collected.add(c)
}

// Report shows how the trial goes. Phase, case and repeat are filled in. It may be called from any
// goroutine.
func (t *Trial) Report(p Progress) { t.report.show(p) }
