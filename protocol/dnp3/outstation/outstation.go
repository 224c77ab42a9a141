package outstation

import (
	"fmt"
	"sync"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation/attribute"
	"voltbus/protocol/dnp3/outstation/database"
	"voltbus/protocol/dnp3/outstation/filetransfer"
)

// Outstation is a device: its database, and a [Session] for each of its masters. Its
// methods may be called concurrently.
type Outstation struct {
	callbacks   Callbacks
	limits      map[object.Kind]int
	selectFor   time.Duration
	maxControls int
	files       filetransfer.Service
	noText      []byte // what a string is that was never set
	timeSync    time.Duration
	attributes  attribute.Sets

	mu          sync.Mutex
	tx          Tx // handed to functions of the application
	database    database.Database
	sessions    []*Session
	indications app.IIN
	timeDue     time.Time // when to ask for the time again
	freezes     []freezing
}

// New returns an outstation without sessions. The error says which part of the
// configuration to change.
func New(c Config) (*Outstation, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	o := &Outstation{
		callbacks: c.Callbacks, limits: c.EventLimits, selectFor: c.SelectTimeout,
		maxControls: c.MaxControls, timeSync: c.TimeSync, attributes: attribute.NewSets(c.Attributes, c.PrivateAttributes),
		files: c.Files,
	}
	o.files.SetDefaults()
	o.tx.outstation = o
	if !c.EmptyStrings {
		o.noText = []byte{0}
	}
	if o.selectFor == 0 {
		o.selectFor = defaultSelect
	}
	if o.maxControls == 0 {
		o.maxControls = defaultControls
	}
	if o.timeSync > 0 {
		o.indications = app.IINNeedTime
	}
	return o, load(&o.database, c.Points)
}

// Session adds a session with a master. It keeps events from now on, whether or not
// the master is connected.
func (o *Outstation) Session(c SessionConfig) (*Session, error) {
	if c.ConfirmTimeout < 0 || c.Retries < 0 || c.Holdoff < 0 || c.HoldoffEvents < 0 {
		return nil, fmt.Errorf("outstation: session with master %v: %w", c.Master, errNegative)
	}
	if c.ConfirmTimeout == 0 {
		c.ConfirmTimeout = defaultConfirm
	}
	s := newSession(o, c)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sessions = append(o.sessions, s)
	return s, nil
}

// Update changes the database in one step: events made in f leave together where they
// fit into one fragment. f must not block or call methods of the Outstation.
func (o *Outstation) Update(f func(tx *Tx)) {
	o.mu.Lock()
	f(&o.tx)
	o.mu.Unlock()
	o.wake(nil)
}

// Indicate sets and resets indications of the device as a whole, such as
// IINLocalControl, IINDeviceTrouble, IINConfigCorrupt or IINNeedTime; those of events
// and requests are kept by the sessions.
func (o *Outstation) Indicate(set, reset app.IIN) {
	const own = app.IINLocalControl | app.IINDeviceTrouble | app.IINConfigCorrupt | app.IINNeedTime
	o.mu.Lock()
	defer o.mu.Unlock()
	o.indications = (o.indications&^(reset&own) | set&own)
}

// wake lets the sessions but one report what they have.
func (o *Outstation) wake(but *Session) {
	for i := 0; ; i++ {
		o.mu.Lock()
		if i >= len(o.sessions) {
			o.mu.Unlock()
			return
		}
		s := o.sessions[i]
		wake := s.wake
		ready := s.fresh && s != but && s.wants()
		s.fresh = false
		last := i+1 == len(o.sessions)
		o.mu.Unlock()
		if ready && wake != nil {
			wake()
		}
		if last {
			return
		}
	}
}
