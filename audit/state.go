package audit

import (
	"sync"
	"time"
)

// state is the end and the health of a log. It is safe for concurrent use.
type state struct {
	mu       sync.Mutex
	head     Head
	segment  uint64 // of head
	clean    bool   // the log was closed when it was opened, or new
	anew     string // why the next entry begins a segment, "" if it does not
	damage   string
	failed   error // why the last entries could not be written
	astray   error // why the anchor could not be
	verified time.Time
	kept     map[string]Head // what others know of the log, by who they are
}

// status returns what the state knows of a Status.
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

// begin sets where a log ends that was opened.
func (s *state) begin(head Head, segment uint64, clean bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.head, s.segment, s.clean = head, segment, clean
}

// settle notes how a transaction ended that would have the log end at a head; begun says that it began a segment.
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

// stray remembers why the anchor could not be written, nil when it could.
func (s *state) stray(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.astray = err
}

// note remembers damage, and whether the next entry begins a segment.
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

// accept forgets damage, unless something was found since.
func (s *state) accept() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.anew == "" {
		s.damage = ""
	}
}

// expect stores where the log ended according to others.
func (s *state) expect(kept Head, from string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[from] = kept
}

// ends returns the ends that the log must have: its own first.
func (s *state) ends() []expected {
	s.mu.Lock()
	defer s.mu.Unlock()
	ends := []expected{{anchor{Head: s.head, Segment: s.segment}, "the node"}}
	for from, head := range s.kept {
		ends = append(ends, expected{anchor{Head: head}, from})
	}
	return ends
}

// goOn has the log go on behind a place, although it is not the one that was kept.
func (s *state) goOn(behind Head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.head, s.clean = behind, false
}

// checked notes that the whole chain was followed.
func (s *state) checked(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verified = at
}
