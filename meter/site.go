package meter

import (
	"fmt"
	"slices"
	"time"
)

// Premises is a place that is supplied: a house, a flat, a plant.
type Premises struct {
	ID      string
	Address string
	Zone    string // IANA name, such as "Europe/Berlin"; its days are those of the bill
}

// ServicePoint is where a commodity is delivered to premises; meters come and go there.
type ServicePoint struct {
	ID        string
	Premises  string
	Commodity Commodity
}

// Installation is a meter at a service point for a time.
type Installation struct {
	Meter, ServicePoint string
	From                time.Time // the first moment
	To                  time.Time // the first moment after; zero while installed
}

// At reports whether the meter was installed at a moment.
func (i Installation) At(t time.Time) bool {
	return !t.Before(i.From) && (i.To.IsZero() || t.Before(i.To))
}

// overlaps reports whether two installations share a moment.
func (i Installation) overlaps(o Installation) bool {
	return (o.To.IsZero() || i.From.Before(o.To)) && (i.To.IsZero() || o.From.Before(i.To))
}

// Installations answers which meter was where and when. At any moment a service point has at most one meter, and
// a meter is at one service point at most. The zero Installations is empty and ready for use. It may be read
// concurrently, not while it changes.
type Installations struct {
	byPoint map[string][]Installation // by From
	byMeter map[string][]Installation // by From
}

// Install adds an installation. It refuses one that overlaps another of the same meter or service point.
func (s *Installations) Install(i Installation) error {
	if i.Meter == "" || i.ServicePoint == "" || i.From.IsZero() {
		return fmt.Errorf("installation of meter %q at service point %q: give meter, service point and the time of installation", i.Meter, i.ServicePoint)
	}
	if !i.To.IsZero() && !i.To.After(i.From) {
		return fmt.Errorf("installation of meter %q: ends at %s, not after its begin at %s", i.Meter, stamp(i.To), stamp(i.From))
	}
	for _, o := range slices.Concat(s.byPoint[i.ServicePoint], s.byMeter[i.Meter]) {
		if i.overlaps(o) {
			return fmt.Errorf("installation of meter %q at service point %q from %s: meter %q is at service point %q from %s: remove that one first",
				i.Meter, i.ServicePoint, stamp(i.From), o.Meter, o.ServicePoint, stamp(o.From))
		}
	}
	if s.byPoint == nil {
		s.byPoint, s.byMeter = make(map[string][]Installation), make(map[string][]Installation)
	}
	s.byPoint[i.ServicePoint] = insert(s.byPoint[i.ServicePoint], i)
	s.byMeter[i.Meter] = insert(s.byMeter[i.Meter], i)
	return nil
}

// Remove ends the installation of a meter that is installed at a moment.
func (s *Installations) Remove(meter string, at time.Time) error {
	list := s.byMeter[meter]
	n := len(list) - 1
	if n < 0 || !list[n].To.IsZero() {
		return fmt.Errorf("remove meter %q: it is not installed", meter)
	}
	if !at.After(list[n].From) {
		return fmt.Errorf("remove meter %q at %s: it was installed at %s: give a later time", meter, stamp(at), stamp(list[n].From))
	}
	list[n].To = at
	points := s.byPoint[list[n].ServicePoint]
	points[len(points)-1].To = at
	return nil
}

// Exchange replaces the meter of a service point at a moment. Nothing changes if it returns an error.
func (s *Installations) Exchange(servicePoint, meter string, at time.Time) error {
	old, ok := s.At(servicePoint, at)
	if !ok || !old.To.IsZero() {
		return fmt.Errorf("exchange the meter of service point %q at %s: none is installed then: install one", servicePoint, stamp(at))
	}
	if _, busy := s.Where(meter, at); busy || meter == old.Meter {
		return fmt.Errorf("exchange the meter of service point %q at %s: meter %q is installed already", servicePoint, stamp(at), meter)
	}
	if list := s.byMeter[meter]; len(list) > 0 && list[len(list)-1].From.After(at) {
		return fmt.Errorf("exchange the meter of service point %q at %s: meter %q is installed later", servicePoint, stamp(at), meter)
	}
	if err := s.Remove(old.Meter, at); err != nil {
		return err
	}
	return s.Install(Installation{Meter: meter, ServicePoint: servicePoint, From: at})
}

// At returns what is installed at a service point at a moment.
func (s *Installations) At(servicePoint string, t time.Time) (Installation, bool) {
	return find(s.byPoint[servicePoint], t)
}

// Where returns where a meter is installed at a moment.
func (s *Installations) Where(meter string, t time.Time) (Installation, bool) {
	return find(s.byMeter[meter], t)
}

// List returns the installations of a service point, oldest first.
func (s *Installations) List(servicePoint string) []Installation {
	return slices.Clone(s.byPoint[servicePoint])
}

func insert(list []Installation, i Installation) []Installation {
	n, _ := slices.BinarySearchFunc(list, i, func(a, b Installation) int { return a.From.Compare(b.From) })
	return slices.Insert(list, n, i)
}

func find(list []Installation, t time.Time) (Installation, bool) {
	for _, i := range slices.Backward(list) {
		if i.At(t) {
			return i, true
		}
	}
	return Installation{}, false
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
