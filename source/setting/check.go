package setting

import (
	"fmt"
	"regexp"
	"strings"

	broker "voltbus/broker/setting"
	"voltbus/ingest"
	"voltbus/point"
)

// Most is how many sources there may be.
const Most = 32

// MaxBatch is the largest batch.
const MaxBatch = 50_000

const maxName = 249 // of a topic of Kafka; queues and addresses may have 255

var plainName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$`)

// report tells what is wrong with a key.
type report = func(key, format string, args ...any)

// Validate reports what is wrong with the list.
func (l List) Validate(r func(key, format string, args ...any)) {
	if len(l) > Most {
		r("sources", "lists %d; at most %d are possible", len(l), Most)
	}
	names := map[string]bool{}
	for i := range l {
		at := fmt.Sprintf("sources[%d].", i)
		if names[l[i].Name] {
			r(at+"name", "%q is there already; give each source a name of its own", l[i].Name)
		}
		names[l[i].Name] = true
		l[i].validate(func(key, format string, args ...any) { r(at+key, format, args...) })
	}
}

func (s *Source) validate(r report) {
	if !plainName.MatchString(s.Name) {
		r("name", "%q is not a name; write up to 64 letters, digits, - and _, such as meters", s.Name)
	}
	if s.Kind == "" {
		r("kind", "is missing; write amqp1, kafka or rabbitmq")
	} else {
		access := s.Access()
		access.Check(s.Kind, r)
	}
	s.validateFrom(r)
	s.validateUnder(r)
	s.validateFormat(r)
	if s.Batch < 0 || s.Batch > MaxBatch {
		r("batch", "%d is out of range; write 1 to %d", s.Batch, MaxBatch)
	}
}

// Topics are the names of what is read, one or for Kafka several.
func (s *Source) Topics() []string {
	if s.Kind != Kafka {
		return []string{s.From}
	}
	list := strings.Split(s.From, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

func (s *Source) validateFrom(r report) {
	for _, name := range s.Topics() {
		switch {
		case name == "":
			r("from", "has an empty name; write a topic, a queue or an address, such as readings")
		case len(name) > maxName:
			r("from", "%q is longer than %d bytes", name, maxName)
		case name == s.DeadLetters:
			r("dead_letters", "%q is read, too: what cannot be read would come round for ever; write another name", name)
		}
	}
	if len(s.DeadLetters) > maxName {
		r("dead_letters", "is longer than %d bytes", maxName)
	}
	if s.Group != "" && s.Kind != Kafka {
		r("group", "is only for kafka; remove it")
	}
}

func (s *Source) validateUnder(r report) {
	if s.Under == "" {
		r("under", "is missing; write the path that everything read lies below, such as campus/meters")
		return
	}
	if err := point.Path(s.Under).Validate(); err != nil {
		r("under", "%q is not a path: %v", s.Under, err)
	} else if own := s.Under + "/"; strings.HasPrefix(own, "control/") || strings.HasPrefix(own, "control-level/") {
		r("under", "%q lies where commands are recorded; begin it with something else", s.Under)
	}
}

func (s *Source) validateFormat(r report) {
	switch {
	case s.Format == "" && len(s.Templates) == 0:
		r("format", "is missing; write json, senml, senml-cbor, line or csv, or templates")
	case s.Format != "" && len(s.Templates) > 0:
		r("format", "and templates are both there; templates have a format each: remove one")
	}
	if s.Layout != "" && s.Format != Line {
		r("layout", "is only for the format line; remove it, or write format: line")
	}
	if _, err := ingest.ParseLayout(s.Layout); s.Layout != "" && err != nil {
		r("layout", "%q %v", s.Layout, err)
	}
	if s.Precision != "" && s.Format != Line && s.Format != JSON && s.Format != CSV {
		r("precision", "is only for json, line and csv; remove it")
	}
	broker.CheckTemplates(s.Templates, r)
	for i := range s.Templates {
		s.validateTemplate(r, i)
	}
}

// validateTemplate reports what templates may have at the node's own broker only.
func (s *Source) validateTemplate(r report, i int) {
	t, at := &s.Templates[i], fmt.Sprintf("templates[%d].", i)
	if t.Live {
		r(at+"live", "is not for sources, whose readings are all recorded; remove it")
	}
	if t.StaleAfter != 0 {
		r(at+"stale_after", "is not for sources; remove it")
	}
	for j := range t.Points {
		if t.Points[j].Set != (broker.Set{}) {
			r(fmt.Sprintf("%spoints[%d].set", at, j), "is not for sources, which only read; remove it")
		}
	}
}
