package experiment

import (
	"math"
	"os"
	"sync"
	"time"

	"voltbus/lab/machine"
)

// Progress is how a run goes now. Its JSON form is one line of "voltbus lab run --progress" and one
// event of the stream. Figures that are not known are 0 and left out.
type Progress struct {
	Time    time.Time `json:"time"`
	Phase   string    `json:"phase"` // preparing, warming up, measuring, writing the report, …
	Subject string    `json:"subject,omitempty"`
	Case    string    `json:"case,omitempty"`
	Repeat  int       `json:"repeat,omitempty"` // from 1
	Repeats int       `json:"repeats,omitempty"`
	Done    float64   `json:"done"` // share of the work, 0 to 1; by the cases that the table names

	Rate    float64  `json:"rate,omitempty"`    // operations a second now
	Clients int      `json:"clients,omitempty"` // simulated clients that are connected now
	Value   *float64 `json:"value,omitempty"`   // the figure of the repeat that has just ended
	P50     float64  `json:"p50,omitempty"`     // seconds
	P99     float64  `json:"p99,omitempty"`     // seconds
	CPU     float64  `json:"cpu,omitempty"`     // cores in use by the run's own process
	Memory  uint64   `json:"memory,omitempty"`  // bytes resident in the run's own process
	Message string   `json:"message,omitempty"`
}

// reporter fills in what a trial does not know.
type reporter struct {
	mu    sync.Mutex
	emit  func(Progress)
	now   Progress
	total int // trials that are expected; 0 if unknown
	ended int
	meter *machine.Meter
	last  machine.Usage

	course course
}

func newReporter(emit func(Progress), total int) *reporter {
	return &reporter{emit: emit, total: total, meter: machine.NewMeter(os.Getpid())}
}

func (r *reporter) phase(phase string) {
	r.mu.Lock()
	r.now = Progress{Phase: phase}
	r.mu.Unlock()
	r.show(Progress{})
}

func (r *reporter) begin(subject, name string, repeat, repeats int) {
	r.mu.Lock()
	r.now = Progress{Phase: "measuring", Subject: subject, Case: name, Repeat: repeat + 1, Repeats: repeats}
	r.course.begin(repeat, time.Now())
	r.mu.Unlock()
	r.show(Progress{})
}

func (r *reporter) value(v float64) {
	r.mu.Lock()
	r.ended++
	r.mu.Unlock()
	if math.IsNaN(v) || math.IsInf(v, 0) {
		r.show(Progress{})
		return
	}
	r.show(Progress{Value: &v})
}

// show sends p with the run's place and what the process uses.
func (r *reporter) show(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.Time = time.Now().UTC()
	p.Subject, p.Case, p.Repeat, p.Repeats = r.now.Subject, r.now.Case, r.now.Repeat, r.now.Repeats
	if p.Phase == "" {
		p.Phase = r.now.Phase
	}
	if r.total > 0 {
		p.Done = min(1, float64(r.ended)/float64(r.total))
	}
	if u, err := r.meter.Usage(); err == nil {
		if wall := u.Wall - r.last.Wall; wall > 0 {
			p.CPU = (u.CPU - r.last.CPU) / wall
		}
		p.Memory = u.Memory
		r.last = u
	}
	r.course.add(&p)
	if r.emit != nil {
		r.emit(p)
	}
}

// moments returns the progress of the current case so far.
func (r *reporter) moments() []Moment {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.course.kept()
}
