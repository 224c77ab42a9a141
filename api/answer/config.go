package answer

import (
	"time"

	"voltbus/internal/problem"
)

// Config is the configuration file.
type Config struct {
	File    string          `json:"file"`
	Text    string          `json:"text"`
	Version string          `json:"version" doc:"Of the text, 16 hexadecimal digits"`
	Applied bool            `json:"applied" doc:"The node runs by this text; false after a change by hand"`
	Restart []string        `json:"restart" doc:"Sections that differ from what runs, and need a new start"`
	History []ConfigVersion `json:"history" doc:"Newest first"`
}

// ConfigVersion is a former content of the file.
type ConfigVersion struct {
	Version string    `json:"version"`
	Time    time.Time `json:"time"`
	User    string    `json:"user" doc:"Empty for a change by hand"`
}

// ConfigText is a content of the file.
type ConfigText struct {
	Version string    `json:"version"`
	Time    time.Time `json:"time"`
	User    string    `json:"user"`
	Text    string    `json:"text"`
}

// ConfigProblem is one thing that is wrong in a configuration.
type ConfigProblem struct {
	File   string `json:"file" doc:"Empty for the text itself, else a file that it names"`
	Line   int    `json:"line" api:"min=0" doc:"From 1; 0 if unknown"`
	Column int    `json:"column" api:"min=0" doc:"From 1, in characters; 0 if unknown"`
	Path   string `json:"path" doc:"Of the key, such as devices[3].interval"`
	Detail string `json:"detail" doc:"What is wrong, and what to write instead"`
}

// Problems is the cause of an error: everything that is wrong with a configuration.
type Problems []ConfigProblem

// Error returns the first problem, and the number of further ones.
func (p Problems) Error() string {
	if len(p) == 0 {
		return "the configuration is wrong"
	}
	return problem.First(p[0].Line, p[0].Path, p[0].Detail, len(p))
}

// ConfigChanges is what a configuration would change, or did change. Lists are sorted.
type ConfigChanges struct {
	Added   []string `json:"added" doc:"Paths of devices"`
	Removed []string `json:"removed" doc:"Paths of devices"`
	Changed []string `json:"changed" doc:"Paths of devices, which begin anew"`
	Restart []string `json:"restart" doc:"Sections that only a new start of the node takes over"`
	Words   []string `json:"words" doc:"The same in sentences, shortened if there are many"`
}

// ConfigCheck is the result of checking a configuration.
type ConfigCheck struct {
	Problems []ConfigProblem `json:"problems"` // empty: the configuration can be applied
	Changes  ConfigChanges   `json:"changes"`  // relative to the running configuration; empty if there are problems
}

// ConfigApplied is what a change did.
type ConfigApplied struct {
	Version string        `json:"version"`
	Changes ConfigChanges `json:"changes"`
}
