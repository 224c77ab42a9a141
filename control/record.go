package control

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Version is the version of what Export writes.
const Version = 1

// Record is one part of the state. Later ones of the same kind and key replace earlier ones.
type Record struct {
	Kind string          `json:"kind"`
	Key  string          `json:"key"`
	Data json.RawMessage `json:"data,omitempty"` // nil: it is gone
}

// State is the whole state, for JSON.
type State struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"` // when it was exported
	Records []Record  `json:"records"`
}

// The kinds of record, in the order in which Import takes them.
const (
	recordMeta     = "meta"
	recordTask     = "task"
	recordOverride = "override"
	recordPoint    = "point"
	recordProposal = "proposal"
	recordAnswers  = "answers" // those that were given together
	recordAnswer   = "answer"  // one, as programs before wrote it
)

type recordKey struct{ kind, key string }

// keyOf joins a requester and an identifier, which may hold anything.
func keyOf(requester, id string) string {
	return strconv.Itoa(len(requester)) + ":" + requester + id
}

func (m *Model) touch(kind, key string) { m.changed[recordKey{kind, key}] = struct{}{} }

// manyChanges is how many at once are not usual.
const manyChanges = 1000

// Changes returns the records that changed since the last call of Changes or Export, sorted. Stored
// one over the other, in a transaction each time and before the effects are acted upon, they are the
// whole state.
func (m *Model) Changes() []Record {
	m.answers.open = nil
	records := make([]Record, 0, len(m.changed))
	for key := range m.changed {
		records = append(records, Record{Kind: key.kind, Key: key.key, Data: m.record(key)})
	}
	if clear(m.changed); len(records) > manyChanges {
		m.changed = make(map[recordKey]struct{}) // a map never shrinks, and an empty large one is slow to walk
	}
	sortRecords(records)
	return records
}

func sortRecords(records []Record) {
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(rank(a.Kind)-rank(b.Kind), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Key, b.Key))
	})
}

// rank is the place of a kind in the order of Import; that of an unknown one is before all.
func rank(kind string) int {
	switch kind {
	case recordMeta:
		return 0
	case recordTask:
		return 1
	case recordOverride:
		return 2
	case recordPoint:
		return 3
	case recordProposal:
		return 4
	case recordAnswers, recordAnswer:
		return 5
	}
	return -1
}

// Export returns the whole state: all but the specs of points and what was observed.
func (m *Model) Export(now Instant) State {
	m.touch(recordMeta, "")
	for name := range m.tasks {
		m.touch(recordTask, name)
	}
	for pattern := range m.overrides {
		m.touch(recordOverride, string(pattern))
	}
	for path, t := range m.targets {
		if t.work != nil {
			m.touch(recordPoint, string(path))
		}
	}
	for r := range m.proposals {
		m.touch(recordProposal, keyOf(r.requester, r.id))
	}
	for key := range m.answers.sheets {
		m.touch(recordAnswers, key)
	}
	records := slices.DeleteFunc(m.Changes(), func(r Record) bool { return r.Data == nil })
	return State{Version: Version, Time: now.Wall.UTC(), Records: records}
}

// record writes a record; nil if the thing is gone.
func (m *Model) record(key recordKey) json.RawMessage {
	var content any
	var data []byte
	var err error
	switch key.kind {
	case recordMeta:
		content = metaState{Order: m.order, LastWrite: m.lastWrite}
	case recordTask:
		if t := m.tasks[key.key]; t != nil {
			content = stateOfTask(t)
		}
	case recordOverride:
		if o := m.overrides[point.Pattern(key.key)]; o != nil {
			content = m.stateOfOverride(o)
		}
	case recordPoint:
		if t := m.targets[point.Path(key.key)]; t != nil && t.work != nil {
			s := m.stateOfWork(t.work)
			data = s.json()
		}
	case recordProposal:
		if p := m.proposals[splitKey(key.key)]; p != nil {
			content = m.stateOfProposal(p)
		}
	case recordAnswers:
		data, err = m.answers.record(key.key)
	}
	if content != nil {
		data, err = json.Marshal(content)
	}
	if err != nil {
		panic(fmt.Sprintf("control: a record of plain fields cannot be written: %v", err)) // no field can fail
	}
	return data
}

// splitKey is the inverse of keyOf.
func splitKey(key string) ref {
	length, rest, _ := strings.Cut(key, ":")
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > len(rest) {
		return ref{}
	}
	return ref{rest[:n], rest[n:]}
}

// Import takes a state over into a model whose points are declared and that decided nothing yet. What
// was due meanwhile happens at once; points that were being written are read first. Commands of
// points that are not declared any more end, which is among the events. If the state is damaged, the
// error is Corrupt and the model is not to be used.
func (m *Model) Import(now Instant, s State) (Effects, error) {
	const op = "control.Import"
	switch {
	case s.Version != Version:
		return Effects{}, fault.E(op, fault.Corrupt, "", fmt.Errorf(
			"the state has version %d, and this program knows %d; use the program that wrote it, or begin anew", s.Version, Version))
	case m.order > 0 || len(m.answers.known) > 0:
		return Effects{}, fault.E(op, fault.Conflict, "", errors.New("the model is in use already; import into a new one"))
	}
	m.now = now
	records := slices.Clone(s.Records)
	sortRecords(records)
	answers := make([]keptAnswer, 0, len(records))
	for i := range records {
		if err := m.restore(&records[i], &answers); err != nil {
			return Effects{}, fault.E(op, fault.Corrupt, records[i].Kind+" "+records[i].Key, fmt.Errorf(
				"the record cannot be read: %w; restore a copy, or remove it", err))
		}
	}
	m.restoreAnswers(answers)
	m.resume()
	return m.take(), nil
}

// resume starts what was restored.
func (m *Model) resume() {
	for _, t := range m.sortedTasks() {
		m.startDue(t)
	}
	for _, c := range m.Held("") {
		if m.tasks[c.Task] == nil && c.Task != "" { // it was over when the state was written
			m.endAll(m.selected(c.Requester, Selection{Command: c.Command}), CauseTask)
		}
	}
	m.enter(m.now)
	for _, t := range m.matching("") {
		m.resumed(t)
		m.settle(t, CauseRetry)
	}
}
