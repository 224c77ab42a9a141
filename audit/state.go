package audit

import (
	"sync"
	"time"
)

// state is the end and the condition of a log. It is safe for concurrent use.
type state struct {
	mu       sync.Mutex
	head     Head
	segment  uint64 // of head
	clean    bool   // the log had been closed properly when it was opened, or is new
	anew     string // why the next entry begins a segment; "" if it does not
	damage   string
	failed   error // why the last entries could not be written
	astray   error // why the anchor could not be written
	verified time.Time
	kept     map[string]Head // what others know about the log, by source
}

// status returns the fields of a Status that the state has.
func (s *state) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{Head: s.head, Segment: s.segment, Clean: s.clean, Damage: s.damage, Verified: s.verified, Err: cmpErr(s.failed, s.astray)}
}

// end returns where the log ends, and why the next entry begins a segment, "" if it does not.
func (s *state) end() (head Head, segment uint64, anew string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head, s.segment, s.anew
}

// begin sets the end of a newly opened log.
func (s *state) begin(head Head, segment uint64, clean bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.head, s.segment, s.clean = head, segment, clean
}

// settle records the outcome of a transaction that moves the end of the log to a head; begun tells that it began a segment.
func (s *state) settle(head Head, segment uint64, begun bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed = err; err != nil {
		return
	}
	if s.head, s.segment = head, segment; begun {
		s.anew = ""
	}
}

// stray records why the anchor could not be written, nil when it could.
func (s *state) stray(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.astray = err
}

// note records damage, and whether the next entry begins a segment.
func (s *state) note(what string, anew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.damage == "" {
		s.damage = what
	}
	if anew && s.anew == "" {
		s.anew = what
	}
}

// accept clears the damage, unless more was found since.
func (s *state) accept() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.anew == "" {
		s.damage = ""
	}
}

// expect records where the log ended according to others.
func (s *state) expect(kept Head, from string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[from] = kept
}

// ends returns the ends that the log must contain, its own first.
func (s *state) ends() []expected {
	s.mu.Lock()
	defer s.mu.Unlock()
	ends := []expected{{anchor{Head: s.head, Segment: s.segment}, "the node"}}
	for from, head := range s.kept {
		ends = append(ends, expected{anchor{Head: head}, from})
	}
	return ends
}

// goOn makes the log continue after a position, although it is not the log that was kept.
func (s *state) goOn(behind Head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.head, s.clean = behind, false
}

// checked records that the whole chain was checked.
func (s *state) checked(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verified = at
}
