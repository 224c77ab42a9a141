package answer

import (
	"encoding/json"
	"time"
)

// LabExperiment is an experiment that the lab can run.
type LabExperiment struct {
	Name      string       `json:"name"`
	Title     string       `json:"title"`
	Question  string       `json:"question"`
	Source    string       `json:"source" doc:"Where the published figures come from; empty for none"`
	Method    []string     `json:"method"`
	Limits    []string     `json:"limits" doc:"What the figures do not say"`
	Metric    string       `json:"metric"`
	Unit      string       `json:"unit"`
	Higher    bool         `json:"higher_is_better"`
	Settings  []LabSetting `json:"settings"`
	Published []LabRow     `json:"published"`
	Peers     []string     `json:"peers"`
}

// LabSetting is a setting that a run may change.
type LabSetting struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Quick   string `json:"quick" doc:"The default of a quick run; empty for the same"`
	Doc     string `json:"doc"`
}

// LabRow is a row of a published table.
type LabRow struct {
	Case    string      `json:"case"`
	Figures []LabFigure `json:"figures"`
}

// LabFigure is a published figure with its origin.
type LabFigure struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
}

// LabExperiments are all experiments.
type LabExperiments struct {
	Experiments []LabExperiment `json:"experiments"`
}

// LabOrder requests a run.
type LabOrder struct {
	Experiment string            `json:"experiment" api:"required,judged"`
	Settings   map[string]string `json:"settings,omitempty"`
	Repeats    int               `json:"repeats,omitempty" api:"judged,min=0,max=100" doc:"0 for the default"`
	Quick      bool              `json:"quick,omitempty" doc:"Few and small cases"`
	Seed       int64             `json:"seed,omitempty" doc:"0 for 1"`
	WithPeers  bool              `json:"with_peers,omitempty" doc:"Measure other programs that are installed there too"`
}

// LabRun is a run of an experiment. Its report is at /lab/runs/{id}/report when it has finished.
type LabRun struct {
	ID         string          `json:"id"`
	Experiment string          `json:"experiment"`
	Title      string          `json:"title"`
	State      string          `json:"state" api:"one-of=running|finished|stopped|failed"` // running, finished, stopped, failed
	Started    time.Time       `json:"started"`
	Finished   *time.Time      `json:"finished"` // null while it runs
	Quick      bool            `json:"quick"`
	Repeats    int             `json:"repeats"`
	Verdict    []string        `json:"verdict" doc:"In sentences"`
	Error      string          `json:"error" doc:"Why it failed; empty if it did not"`
	Progress   json.RawMessage `json:"progress,omitempty" api:"schema=LabProgress"` // the latest LabProgress while it runs
	Result     json.RawMessage `json:"result,omitempty" api:"object" doc:"The result.json of a finished run, only where one run is asked for"`
}

// LabRuns are the runs, newest first.
type LabRuns struct {
	Runs []LabRun `json:"runs"`
}

// LabProgress is the progress of a run, as experiments report it in events.
type LabProgress struct {
	Time    time.Time `json:"time"`
	Phase   string    `json:"phase"`
	Subject string    `json:"subject,omitempty" doc:"voltbus or a peer"`
	Case    string    `json:"case,omitempty"`
	Repeat  int       `json:"repeat,omitempty" api:"min=1"`
	Repeats int       `json:"repeats,omitempty" api:"min=1"`
	Done    float64   `json:"done" api:"min=0,max=1" doc:"Share of the work"`
	Rate    float64   `json:"rate,omitempty" doc:"Operations a second now"`
	Clients int       `json:"clients,omitempty" api:"min=0" doc:"Simulated clients that are connected now"`
	Value   float64   `json:"value,omitempty" doc:"The figure of the repeat that has just ended"`
	P50     float64   `json:"p50,omitempty" doc:"Seconds"`
	P99     float64   `json:"p99,omitempty" doc:"Seconds"`
	CPU     float64   `json:"cpu,omitempty" doc:"Cores in use by the run's process"`
	Memory  int64     `json:"memory,omitempty" api:"min=0" doc:"Bytes resident in the run's process"`
	Message string    `json:"message,omitempty"`
}

// Capacity is the measured capacity of this machine.
type Capacity struct {
	Measured time.Time       `json:"measured"`
	Words    []string        `json:"words" doc:"What this machine carries, in sentences"`
	Binds    string          `json:"binds_first" api:"one-of=processor|memory|disk" doc:"What is used up first by devices that are read each second"`
	Machine  json.RawMessage `json:"machine" api:"object" doc:"The machine as it was then"`
	Figures  CapacityFigures `json:"figures"`
	Carries  []Carried       `json:"carries"`
}

// Carried is how many of one kind a machine can carry.
type Carried struct {
	What   string `json:"what" doc:"Such as devices of 18 points each second"`
	Number int    `json:"number" api:"min=0"`
	Binds  string `json:"binds" doc:"What is used up first"`
}

// CapacityFigures are the measurements.
type CapacityFigures struct {
	Sample   float64 `json:"cpu_per_sample" doc:"Seconds of a core from the device to the store"`
	Delivery float64 `json:"cpu_per_delivery" doc:"Seconds of a core to give one message to one client, the client's own work included"`
	Log      float64 `json:"log_per_sample" doc:"Bytes of the log"`
	Flush    float64 `json:"flush" doc:"Seconds until the disk has 64 KiB, the median"`
	Written  float64 `json:"written_per_second" doc:"Bytes a second that were flushed in pieces of 64 KiB"`
	Base     uint64  `json:"memory_base"`
	Device   float64 `json:"memory_per_device" doc:"Bytes, without its points"`
	Point    float64 `json:"memory_per_point" doc:"Bytes"`
	Client   float64 `json:"memory_per_client" doc:"Bytes, both ends of the connection"`
}
