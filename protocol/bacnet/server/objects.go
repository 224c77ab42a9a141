package server

import (
	"fmt"
	"sync"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

// objects are the objects of a device.
type objects struct {
	device encoding.ObjectID

	mu       sync.RWMutex
	byID     map[encoding.ObjectID]Object
	byName   map[string]encoding.ObjectID
	order    []encoding.ObjectID
	list     *Value // of the property object-list; nil: to be made
	revision uint64 // counts the changes of the list
}

func newObjects(device encoding.ObjectID) *objects {
	return &objects{device: device, byID: map[encoding.ObjectID]Object{}, byName: map[string]encoding.ObjectID{}}
}

func (s *objects) add(o Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := o.ID()
	_, named := s.byName[o.Name()]
	switch {
	case id.Instance > encoding.MaxInstance:
		return fmt.Errorf("add %v: %w", id, ErrInstance)
	case s.byID[id] != nil || named:
		return fmt.Errorf("add %v %q: %w", id, o.Name(), ErrDuplicate)
	}
	s.byID[id], s.byName[o.Name()] = o, id
	s.order = append(s.order, id)
	s.list = nil
	s.revision++
	return nil
}

// get returns an object; the instance 4194303 of a device stands for this one (clause 15.5.2).
func (s *objects) get(id encoding.ObjectID) (Object, error) {
	if id.Type == enum.Device && id.Instance == encoding.MaxInstance+1 {
		id = s.device
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if o := s.byID[id]; o != nil {
		return o, nil
	}
	return nil, service.Error{Class: enum.ClassObject, Code: enum.CodeUnknownObject}
}

// find returns the object that a Who-Has asks for; nil if there is none.
func (s *objects) find(q service.ObjectQuery) Object {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if q.Name == "" {
		return s.byID[q.Object]
	}
	id, known := s.byName[q.Name]
	if !known {
		return nil
	}
	return s.byID[id]
}

// objectList returns the property object-list.
func (s *objects) objectList() Value {
	s.mu.RLock()
	made := s.list
	s.mu.RUnlock()
	if made != nil {
		return *made
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	values := make([]encoding.Value, 0, len(s.order))
	for _, id := range s.order {
		values = append(values, encoding.ObjectIDValue(id))
	}
	v := List(values...)
	s.list = &v
	return v
}

// databaseRevision returns how often the list changed.
func (s *objects) databaseRevision() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.revision
}

// types returns which types there are.
func (s *objects) types() encoding.BitString {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var set []int
	for id := range s.byID {
		set = append(set, int(id.Type))
	}
	return bits(63, set...)
}
