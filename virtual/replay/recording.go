package replay

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/virtual/world"
)

// The files of a recording, in a folder of their own.
const (
	headFile     = "recording.json" // a Head
	readingsFile = "readings.csv"   // as the node exports them
	auditFile    = "decisions.jsonl"
)

// Head says what a recording is of.
type Head struct {
	Node   string    `json:"node"`
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Agent  string    `json:"agent"`
	Points []Point   `json:"points"`
}

// Point is a point of a recording.
type Point struct {
	Path     string `json:"path"`
	Device   string `json:"device"` // path of the device; "" if it has none
	Writable bool   `json:"writable"`
}

// Source is where a recording comes from: a node.
type Source interface {
	// Readings writes readings as CSV, and Audit entries of the audit log about commands as lines of JSON.
	Readings(w io.Writer) error
	Audit(w io.Writer) error
}

// Record writes a recording into a folder, which must not exist.
func Record(dir string, h *Head, s Source) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fault.E("replay.Record", fault.Conflict, dir, fmt.Errorf("%w; name a new folder", err))
	}
	head, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, headFile), head, 0o600),
		write(filepath.Join(dir, readingsFile), s.Readings),
		write(filepath.Join(dir, auditFile), s.Audit),
	)
}

func write(name string, fill func(io.Writer) error) error {
	f, err := os.Create(name) //nolint:gosec // below the folder that the user names
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}

// Recording is a stretch of a node's history, and what was decided in it.
type Recording struct {
	Head
	Scans []world.Scan
	Then  []Decision
	first map[string]any // values of writable points
}

// Open reads a recording.
func Open(dir string) (*Recording, error) {
	r := &Recording{first: map[string]any{}}
	data, err := os.ReadFile(filepath.Join(dir, headFile)) //nolint:gosec // the folder that the user names
	if err != nil {
		return nil, fault.E("replay.Open", fault.NotFound, dir, fmt.Errorf("%w; make a recording with voltbus replay record", err))
	}
	if err := json.Unmarshal(data, &r.Head); err != nil {
		return nil, fault.E("replay.Open", fault.Corrupt, headFile, err)
	}
	for name, read := range map[string]func(io.Reader) error{readingsFile: r.readings, auditFile: r.audit} {
		f, err := os.Open(filepath.Join(dir, name)) //nolint:gosec // the folder that the user names
		if err != nil {
			return nil, fault.E("replay.Open", fault.NotFound, name, err)
		}
		if err := errors.Join(read(f), f.Close()); err != nil {
			return nil, fault.E("replay.Open", fault.Corrupt, name, err)
		}
	}
	return r, nil
}

// readings reads the export and joins what a device reported at one moment.
func (r *Recording) readings(in io.Reader) error {
	rows := csv.NewReader(bufio.NewReader(in))
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	j := joiner{recording: r, points: map[string]Point{}, column: map[string]int{}, scans: map[moment]*world.Scan{}}
	for i, name := range header {
		j.column[name] = i
	}
	for _, p := range r.Points {
		j.points[p.Path] = p
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = j.add(row)
		}
		if err != nil {
			return err
		}
	}
	for _, k := range j.order {
		r.Scans = append(r.Scans, *j.scans[k])
	}
	slices.SortStableFunc(r.Scans, func(a, b world.Scan) int {
		return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Device, b.Device))
	})
	return nil
}

type moment struct {
	at     time.Duration
	device string
}

// joiner makes scans of rows.
type joiner struct {
	recording *Recording
	points    map[string]Point
	column    map[string]int
	scans     map[moment]*world.Scan
	order     []moment
}

func (j *joiner) add(row []string) error {
	cell := func(name string) string {
		if i, ok := j.column[name]; ok {
			return row[i]
		}
		return ""
	}
	when, err := time.Parse(time.RFC3339Nano, cell("time"))
	if err != nil {
		return err
	}
	path := cell("point")
	device, name := divide(path, j.points[path].Device)
	k := moment{when.Sub(j.recording.From), device}
	if k.at < 0 {
		return nil
	}
	if j.scans[k] == nil {
		j.scans[k] = &world.Scan{At: k.at, Device: device, Points: map[string]any{}, Quality: map[string]string{}, Kept: true}
		j.order = append(j.order, k)
	}
	value := valueOf(cell("kind"), cell("value"))
	j.scans[k].Points[name] = value
	if q := cell("quality"); q != "" && q != "good" {
		j.scans[k].Quality[name] = q
	}
	if _, seen := j.recording.first[path]; !seen && j.points[path].Writable && value != nil {
		j.recording.first[path] = value
	}
	return nil
}

// divide returns the device of a point and its name within it.
func divide(path, device string) (string, string) {
	if rest, ok := strings.CutPrefix(path, device+"/"); ok && device != "" {
		return device, rest
	}
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return path, path
}

// valueOf reads a cell of an export; nil for none.
func valueOf(kind, cell string) any {
	if kind == "text" {
		return cell
	}
	v, err := strconv.ParseFloat(cell, 64)
	switch {
	case kind == "bool" && cell != "":
		return cell == "true" || err == nil && v != 0
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0): // JSON has no such number
		return nil
	}
	return v
}

// entry is one of the audit log.
type entry struct {
	Time    time.Time `json:"time"`
	Actor   string    `json:"actor"`
	Action  string    `json:"action"`
	Subject string    `json:"subject"`
	Outcome string    `json:"outcome"`
	Detail  struct {
		Requester string `json:"requester"`
		Cause     string `json:"cause"`
		Value     any    `json:"value"`
	} `json:"detail"`
}

// audit reads what the agent commanded then, and when that ended.
func (r *Recording) audit(in io.Reader) error {
	lines := json.NewDecoder(bufio.NewReader(in))
	for {
		var e entry
		err := lines.Decode(&e)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		mine := e.Actor == "agent:"+r.Agent || e.Detail.Requester == "agent:"+r.Agent
		switch {
		case !mine || e.Subject == "":
		case e.Action == "control.command" && e.Outcome == "accepted":
			r.Then = append(r.Then, Decision{e.Time, e.Subject, e.Detail.Value})
		case e.Action == "control.command-ended" && e.Detail.Cause != "replaced":
			r.Then = append(r.Then, Decision{e.Time, e.Subject, nil})
		}
	}
}
