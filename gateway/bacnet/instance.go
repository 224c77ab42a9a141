package bacnet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// Instances are which object is which point's, in a file: a point keeps its object over restarts, and the instance of a point that is no longer
// served is not given to another one, which clients would take for the first. It is used by one goroutine.
type Instances struct {
	file    string
	list    []instance // in the order in which they were given
	points  map[encoding.ObjectID]string
	held    map[holder]encoding.ObjectID // given last
	next    map[enum.ObjectType]uint32
	changed bool
}

type instance struct {
	id    encoding.ObjectID
	point string
}

// holder is what has at most one instance of the gateway's choice.
type holder struct {
	kind  enum.ObjectType
	point string
}

var instanceColumns = []string{"type", "instance", "point"}

// Errors of instances.
var (
	errColumns = errors.New(`has other columns than type, instance and point; restore the file, or delete it, and the gateway gives new instances`)
	errFull    = errors.New("all instances of the type have been given; delete lines of points that are gone from the file")
)

// OpenInstances reads the file of instances; there are none yet if it is missing.
func OpenInstances(file string) (*Instances, error) {
	s := &Instances{file: file, points: map[encoding.ObjectID]string{}, held: map[holder]encoding.ObjectID{}, next: map[enum.ObjectType]uint32{}}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fault.E("gateway.OpenInstances", fault.Unavailable, file, err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fault.E("gateway.OpenInstances", fault.Corrupt, file, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], instanceColumns) {
		return nil, fault.E("gateway.OpenInstances", fault.Corrupt, file, errColumns)
	}
	for i, row := range rows[1:] {
		kind, errKind := enum.ParseObjectType(row[0])
		n, err := strconv.ParseUint(row[1], 10, 32)
		if errKind != nil || err != nil || n > encoding.MaxInstance {
			return nil, fault.E("gateway.OpenInstances", fault.Corrupt, file, fmt.Errorf("line %d: %q %q is no object; write such as analog-input,3", i+2, row[0], row[1]))
		}
		s.note(encoding.ObjectID{Type: kind, Instance: uint32(n)}, row[2])
	}
	s.changed = false
	return s, nil
}

// note adds an instance.
func (s *Instances) note(id encoding.ObjectID, point string) {
	s.list = append(s.list, instance{id, point})
	s.points[id] = point
	s.held[holder{id.Type, point}] = id
	s.next[id.Type] = max(s.next[id.Type], id.Instance+1)
	s.changed = true
}

// claim notes an instance that the mapping gives a point.
func (s *Instances) claim(id encoding.ObjectID, point string) error {
	switch had, given := s.points[id]; {
	case !given:
		s.note(id, point)
	case had != point:
		return fmt.Errorf("%v is or was that of %s; write another instance, or delete its line from %s if no client knows it any more", id, had, s.file)
	}
	return nil
}

// give returns the instance of a point: the one that it has had, or one that none has had.
func (s *Instances) give(kind enum.ObjectType, point string) (encoding.ObjectID, error) {
	if id, has := s.held[holder{kind, point}]; has {
		return id, nil
	}
	id := encoding.ObjectID{Type: kind, Instance: max(s.next[kind], 1)}
	if id.Instance > encoding.MaxInstance {
		return id, fmt.Errorf("%v in %s: %w", kind, s.file, errFull)
	}
	s.note(id, point)
	return id, nil
}

// Save writes the file if there are new instances. Call it before the objects are served.
func (s *Instances) Save() error {
	if !s.changed {
		return nil
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(instanceColumns) // a buffer takes all
	for _, i := range s.list {
		_ = w.Write([]string{i.id.Type.String(), strconv.FormatUint(uint64(i.id.Instance), 10), i.point})
	}
	w.Flush()
	if err := (atomicfile.Writer{}).Write(s.file, b.Bytes(), 0o600); err != nil {
		return fault.E("gateway.SaveInstances", fault.Unavailable, s.file, err)
	}
	s.changed = false
	return nil
}
