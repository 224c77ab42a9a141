// Package source records messages of brokers outside. A Reader takes them, a payload becomes readings by the formats of readings sent over HTTP or by
// the templates of MQTT messages, and the broker is answered when the readings are on disk: what was not answered is delivered again. Readings
// that come twice have the same point and time, and are there once.
//
// A message that cannot be read holds nothing up: a copy goes to the place for dead letters, or is kept here, and it is answered like
// others. While the node does not record, no message is taken.
package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/fault"
	"voltbus/ingest"
	"voltbus/internal/plural"
	"voltbus/point"
	"voltbus/source/setting"
)

// Message is a message of a broker.
type Message struct {
	// Topic is what templates select: the topic and the key of Kafka, or the routing key of AMQP, with / between the parts.
	Topic string
	// Place tells people where the message was, such as "readings, partition 2, offset 17".
	Place string
	// Time is that of readings without one: the same when the message is delivered again, where its broker keeps a time. The zero
	// time stands for that of arrival.
	Time    time.Time
	Payload []byte // nil for a message without one, which says nothing
}

// Unread is a message that could not be read, or not all of it.
type Unread struct {
	Message int // of those that were taken together
	Reason  string
}

// Reader takes messages of one broker. One goroutine uses it at a time.
type Reader interface {
	// Read waits for messages and returns some, not more than were asked for when it was made. It connects when that is necessary. Without messages
	// for a while it may return none. The messages are valid until the next call of Read.
	Read(ctx context.Context) ([]Message, error)
	// Divert sends a copy of messages of the last Read to the place for dead letters, and returns when that is sure.
	Divert(ctx context.Context, list []Unread) error
	// Answer tells the broker that all messages of the last Read are settled.
	Answer(ctx context.Context) error
	// Close ends the connection. What was not answered is delivered again. Read connects anew.
	Close() error
}

// Kind makes the reader of an entry that was completed, for a node. It does not connect.
type Kind func(s *setting.Source, node string) (Reader, error)

// Admission records readings from outside, as ingest/admission does.
type Admission interface {
	Record(ctx context.Context, b *ingest.Batch, under point.Path) error
}

// Config is what sources need.
type Config struct {
	Sources   []setting.Source
	Kinds     map[string]Kind
	Dir       string // the data directory
	Node      string
	Admission Admission
	Bounds    point.Bounds
	Now       func() time.Time
	Log       *slog.Logger
}

// Sources are all sources of a node. Its methods are safe for concurrent use.
type Sources struct{ list []*intake }

// Open makes the sources. None is connected yet.
func Open(cfg Config) (*Sources, error) {
	s := &Sources{}
	for _, entry := range cfg.Sources {
		one, err := open(&cfg, entry)
		if err != nil {
			return nil, err
		}
		s.list = append(s.list, one)
	}
	return s, nil
}

// Run records until ctx ends.
func (s *Sources) Run(ctx context.Context) error {
	var all errgroup.Group
	for _, one := range s.list {
		all.Go(func() error { return one.run(ctx) })
	}
	return all.Wait()
}

// Counts count what became of the messages since the node started. Messages are counted once they are answered: those that were delivered
// again for want of an answer are counted once.
type Counts struct {
	Messages uint64 // answered: all of them
	Samples  uint64 // recorded
	Refused  uint64 // samples that may not be recorded, or could not be read
	Misdated uint64 // samples whose time was not accepted
	Unread   uint64 // messages that could not be read, or not all of them
	Diverted uint64 // of the unread: a copy is where dead letters go
	Dropped  uint64 // of the unread: were kept and had to make room for newer ones
}

// State is how a source is.
type State struct {
	Name, Kind string
	Counts

	Kept  int       // unread messages that are kept here
	Last  time.Time // when messages were answered last; zero for never
	Err   error     // why nothing is taken at present; nil in normal operation
	Since time.Time // when that began
	Dead  error     // why dead letters are kept here in place of being sent
}

// Problem describes in a sentence what is wrong with a source; "" if nothing is.
func (s *State) Problem() string {
	switch {
	case s.Err != nil:
		return fmt.Sprintf("The source %q takes no messages since %s: %v.", s.Name, s.Since.UTC().Format(time.RFC3339), s.Err)
	case s.Dead != nil:
		return fmt.Sprintf("The source %q cannot send dead letters, and keeps them: %v.", s.Name, s.Dead)
	case s.Kept > 0:
		return fmt.Sprintf("The source %q could not read %s, which %s kept: voltbus sources unread %s shows them.",
			s.Name, plural.Of(s.Kept, "message"), plural.Word(s.Kept, "is", "are"), s.Name)
	}
	return ""
}

// States returns how all sources are, in the order of the configuration.
func (s *Sources) States() []State {
	list := make([]State, len(s.list))
	for i, one := range s.list {
		list[i] = one.state()
	}
	return list
}

// Problems describes what is wrong with sources.
func (s *Sources) Problems() (list []string) {
	for _, one := range s.States() {
		if text := one.Problem(); text != "" {
			list = append(list, text)
		}
	}
	return list
}

func (s *Sources) find(op, name string) (*intake, error) {
	for _, one := range s.list {
		if one.entry.Name == name {
			return one, nil
		}
	}
	return nil, fault.E(op, fault.NotFound, name, errors.New("there is no such source; voltbus sources list names them"))
}

// Unread returns messages that could not be read and are kept, oldest first, after skipping some.
func (s *Sources) Unread(name string, skip, limit int) ([]Kept, error) {
	one, err := s.find("sources.unread", name)
	if err != nil {
		return nil, err
	}
	return one.kept.page(skip, limit)
}

// Discard forgets the messages of a source that could not be read, and returns how many.
func (s *Sources) Discard(name string) (int, error) {
	one, err := s.find("sources.discard", name)
	if err != nil {
		return 0, err
	}
	return one.kept.clear()
}

// Again reads the messages once more that could not be read, such as after a change of the templates, and returns how many could be read
// now. The others stay.
func (s *Sources) Again(ctx context.Context, name string) (int, error) {
	one, err := s.find("sources.retry", name)
	if err != nil {
		return 0, err
	}
	return one.again(ctx)
}
