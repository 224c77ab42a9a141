package judged

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
	"voltbus/judge"
	"voltbus/uplink"
)

// recollection is the content of a file: what rules remember of the readings up to a position, and found in them.
type recollection struct {
	Log      string       `json:"log"`
	Sequence uint64       `json:"sequence"`
	Memory   judge.Memory `json:"memory"`
	Found    found        `json:"found"`
	Idle     bool         `json:"idle,omitempty"` // there were no rules
}

// decided is the content of a file: what persons decided.
type decided struct {
	Origin    string          `json:"origin"` // of what is released
	Last      uplink.Position `json:"last"`   // of it, up to where the parent has it
	Released  uint64          `json:"released"`
	Discarded uint64          `json:"discarded"`
}

// readState reads up to where the log is judged. A file that cannot be read is as if the rules were new.
func (l *Log) readState(ctx context.Context) error {
	_, last, err := l.cfg.Blocks.Bounds(ctx)
	if err != nil {
		return fault.E("judged.Open", fault.Unavailable, "log", err)
	}
	var s recollection
	known := read(name(l.cfg.Dir, "judge"), &s, l.cfg.Log)
	if !known || s.Idle {
		s.Log, s.Sequence, s.Memory = l.ID(), max(last, l.verdicts.last()), judge.Memory{}
	}
	if s.Log != l.ID() { // the log was replaced: verdicts on the old one do not apply
		s = recollection{Log: l.ID(), Found: s.Found}
		if err := l.verdicts.keep(1, 0); err != nil {
			return err
		}
	}
	if s.Sequence > last { // the log is an older copy
		s.Sequence = last
	}
	if err := l.verdicts.keep(0, last); err != nil {
		return err
	}
	s.Idle = len(l.cfg.Rules) == 0
	l.judged = s.Sequence
	l.found = s.Found
	return l.writeState(&s)
}

func (l *Log) writeState(s *recollection) error {
	if err := write(name(l.cfg.Dir, "judge"), s); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.saved = *s
	return nil
}

// read reads a file; false if there is none, or it cannot be read.
func read(file string, into any, log *slog.Logger) bool {
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("what is remembered of readings that are withheld from the parent cannot be read, and begins anew", slog.String("file", file), slog.Any("err", err))
	}
	return err == nil
}

func write(file string, content any) error {
	data, err := json.Marshal(content)
	if err == nil {
		err = (atomicfile.Writer{}).Write(file, data, 0o600)
	}
	if err != nil {
		return fault.E("judged.Write", fault.Unavailable, file, err)
	}
	return nil
}
