package cluster

import (
	"encoding/binary"
	"errors"

	"voltbus/protocol/mqtt/session"
)

// Entry is a record of the journal: what one turn of a broker changed, all or nothing.
type Entry struct {
	Replica       string // who wrote it
	Epoch, Number uint64 // its start, and the count of entries since: an entry that comes twice counts once
	Applied       uint64 // up to which place in the journal the sessions of the writer had their messages
	Messages      []Message
	Sessions      []Session
	Retained      []Retained
	Claims        []Claim
	Devices       []Device
	Mark          bool // it is written even if it says nothing else; not part of it
}

// empty reports whether an entry says nothing.
func (e *Entry) empty() bool {
	return len(e.Messages)+len(e.Sessions)+len(e.Retained)+len(e.Claims)+len(e.Devices) == 0 && !e.Mark
}

// Message is a message for subscribers at other replicas.
type Message struct {
	*session.Message
	All    bool     // it is for subscriptions that are not shared, at each other replica
	Groups []Target // the shared subscriptions of which it is for a member elsewhere
}

// Target is a shared subscription of which a replica was chosen.
type Target struct{ Replica, Share, Filter string }

// Session is the state of a persistent session; nil if it ended.
type Session struct {
	Key   string
	State []byte
	To    string // who owns it from now on; "" for the writer
	After uint64 // of one that goes elsewhere: the place in the journal up to which it has its messages
}

// Retained is the message of a topic; nil if it is gone.
type Retained struct {
	Topic, Device string
	Message       *session.Message
}

// Claim takes over sessions of a replica that does not answer: one, or all if Key is empty.
type Claim struct{ From, Key string }

// Device is an account of a device; the state is nil if it was removed.
type Device struct {
	Name  string
	State []byte
}

const entryVersion = 1

var errEntry = errors.New("record of the journal of the brokers is cut off or damaged, or of a newer program")

// Append appends the entry in its wire form: numbers are varints, texts have their length before them.
func (e *Entry) Append(b []byte) []byte {
	w := writer{append(b, entryVersion)}
	w.text(e.Replica)
	w.uint(e.Epoch)
	w.uint(e.Number)
	w.uint(e.Applied)
	w.uint(uint64(len(e.Messages)))
	for i := range e.Messages {
		w.message(&e.Messages[i])
	}
	w.uint(uint64(len(e.Sessions)))
	for _, s := range e.Sessions {
		w.text(s.Key)
		w.text(s.To)
		w.uint(s.After)
		w.bytes(s.State)
	}
	w.uint(uint64(len(e.Retained)))
	for _, r := range e.Retained {
		w.text(r.Topic)
		w.text(r.Device)
		w.body(r.Message)
	}
	w.uint(uint64(len(e.Claims)))
	for _, c := range e.Claims {
		w.text(c.From)
		w.text(c.Key)
	}
	w.uint(uint64(len(e.Devices)))
	for _, d := range e.Devices {
		w.text(d.Name)
		w.bytes(d.State)
	}
	return w.b
}

// ParseEntry is the inverse of Append.
func ParseEntry(b []byte) (*Entry, error) {
	r := reader{b: b}
	if r.byte() != entryVersion {
		return nil, errEntry
	}
	e := &Entry{Replica: r.text(), Epoch: r.uint(), Number: r.uint(), Applied: r.uint()}
	for range r.count() {
		e.Messages = append(e.Messages, r.message())
	}
	for range r.count() {
		e.Sessions = append(e.Sessions, Session{Key: r.text(), To: r.text(), After: r.uint(), State: r.bytes()})
	}
	for range r.count() {
		e.Retained = append(e.Retained, Retained{Topic: r.text(), Device: r.text(), Message: r.body()})
	}
	for range r.count() {
		e.Claims = append(e.Claims, Claim{From: r.text(), Key: r.text()})
	}
	for range r.count() {
		e.Devices = append(e.Devices, Device{Name: r.text(), State: r.bytes()})
	}
	if r.bad || len(r.b) > 0 || e.Replica == "" {
		return nil, errEntry
	}
	return e, nil
}

type writer struct{ b []byte }

func (w *writer) uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }

func (w *writer) text(s string) {
	w.uint(uint64(len(s)))
	w.b = append(w.b, s...)
}

// bytes writes a state; nil is 0, anything else its length and one more.
func (w *writer) bytes(p []byte) {
	if p == nil {
		w.uint(0)
		return
	}
	w.uint(uint64(len(p)) + 1)
	w.b = append(w.b, p...)
}

func (w *writer) flag(v bool) {
	if v {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *writer) body(m *session.Message) {
	if m == nil {
		w.bytes(nil)
		return
	}
	w.bytes(session.AppendMessage(nil, m))
}

func (w *writer) message(m *Message) {
	w.body(m.Message)
	w.flag(m.All)
	w.uint(uint64(len(m.Groups)))
	for _, t := range m.Groups {
		w.text(t.Replica)
		w.text(t.Share)
		w.text(t.Filter)
	}
}

// reader takes an entry apart. After the first error it returns zeros.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() { r.b, r.bad = nil, true }

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads how many parts follow, each of which has at least one byte.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) part(n int) []byte {
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) text() string { return string(r.part(r.count())) }

func (r *reader) bytes() []byte {
	n := r.uint()
	if n == 0 || n-1 > uint64(len(r.b)) {
		r.bad = r.bad || n > 0
		return nil
	}
	return r.part(int(n - 1))
}

func (r *reader) body() *session.Message {
	b := r.bytes()
	if b == nil {
		return nil
	}
	m, err := session.ParseMessage(b)
	if err != nil {
		r.fail()
	}
	return m
}

func (r *reader) message() Message {
	m := Message{Message: r.body(), All: r.byte() != 0}
	for range r.count() {
		m.Groups = append(m.Groups, Target{Replica: r.text(), Share: r.text(), Filter: r.text()})
	}
	if m.Message == nil {
		r.fail()
	}
	return m
}
