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

// LabSetting is what a run may change.
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

// LabFigure is a published figure with where it comes from.
type LabFigure struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
}

// LabExperiments are all experiments.
type LabExperiments struct {
	Experiments []LabExperiment `json:"experiments"`
}

// LabOrder asks for a run.
type LabOrder struct {
	Experiment string            `json:"experiment"`
	Settings   map[string]string `json:"settings,omitempty"`
	Repeats    int               `json:"repeats,omitempty"` // 0 for the default
	Quick      bool              `json:"quick,omitempty"`
	Seed       int64             `json:"seed,omitempty"` // 0 for 1
	WithPeers  bool              `json:"with_peers,omitempty"`
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
	Progress   json.RawMessage `json:"progress,omitempty" api:"schema=LabProgress"` // the latest LabProgress of a running one
	Result     json.RawMessage `json:"result,omitempty" api:"object" doc:"The result.json of a finished run, only where one run is asked for"`
}

// LabRuns are the runs, the newest first.
type LabRuns struct {
	Runs []LabRun `json:"runs"`
}
