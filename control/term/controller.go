package term

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/control"
	"voltbus/control/dispatch"
	"voltbus/control/journal"
	"voltbus/control/model"
	"voltbus/fault"
	"voltbus/point"
)

// Right is the right to control the devices.
type Right interface {
	// Hold returns a context that ends with the right of this node; nil while it does not have it.
	Hold() context.Context
	// Owner returns the name of who has it, as far as is known; "" for nobody.
	Owner() string
	// Changed returns a channel that is closed when Hold or Owner change.
	Changed() <-chan struct{}
}

// File is the file with the state in the data directory of a node alone.
const File = journal.File

// State says where the state of control is.
type State struct {
	Dir    string // the data directory, for a node alone
	Now    func() time.Time
	Shared *Shared // nil for a node alone
}

// Shared is what a replica needs to control in turn with others.
type Shared struct {
	Self  string
	Right Right
	// Open opens the log of control, and waits until a majority of the replicas is there.
	Open func(context.Context) (Log, error)
}

// Controller is control as the rest of the node knows it: while another replica controls the devices, requests are refused as
// Unavailable, with its name. It is safe for concurrent use.
type Controller struct {
	requests
	cfg    dispatch.Config
	shared *Shared // nil for a node alone
	now    func() time.Time
	file   *journal.Journal // nil for a replica

	declaring sync.Mutex
	points    []dispatch.Point
	busy      atomic.Bool // a term has not ended altogether
}

// Open returns the controller of a node, which provides the journal and the watchers of the configuration. A node alone opens its state at
// once. Errors are those of dispatch.Open. The caller closes it.
func Open(ctx context.Context, cfg dispatch.Config, s State) (*Controller, error) {
	shared := s.Shared
	c := &Controller{cfg: cfg, shared: shared, now: s.Now, points: cfg.Points}
	c.cfg.Watchers = &dispatch.Watchers{}
	c.watchers = c.cfg.Watchers
	if shared != nil {
		c.who = func() string {
			if owner := shared.Right.Owner(); owner != shared.Self {
				return owner
			}
			return ""
		}
		return c, c.check(cfg.Points)
	}
	c.file = journal.Open(s.Dir, s.Now)
	c.cfg.Journal = c.file
	d, err := dispatch.Open(ctx, c.cfg)
	if err != nil {
		return nil, errors.Join(err, c.file.Close()) //nolint:contextcheck // what is closed is written, whoever waits
	}
	c.current.Store(&term{Dispatcher: d})
	return c, nil
}

// check reports what is wrong with points while nobody decides here.
func (c *Controller) check(points []dispatch.Point) error {
	specs := make([]control.Spec, len(points))
	for i := range points {
		specs[i] = points[i].Spec
	}
	_, err := model.New(c.cfg.Limits).Declare(control.Instant{}, specs)
	return err
}

// Close closes the state of a node alone. A nil Controller, of an idle node, has none.
func (c *Controller) Close() error {
	if c == nil || c.file == nil {
		return nil
	}
	return c.file.Close()
}

// Busy reports whether something of a term is still in progress.
func (c *Controller) Busy() bool { return c.busy.Load() }

// Current returns the dispatcher of the present term; nil if this node does not control the devices.
func (c *Controller) Current() *dispatch.Dispatcher {
	if t := c.current.Load(); t != nil {
		return t.Dispatcher
	}
	return nil
}

// Run controls the devices, whenever this node may, until ctx ends; then it returns nil. See dispatch.Dispatcher.Run.
func (c *Controller) Run(ctx context.Context) error {
	defer c.watchers.Close()
	if c.shared == nil {
		return c.Current().Run(ctx)
	}
	for ctx.Err() == nil {
		changed := c.shared.Right.Changed()
		if hold := c.shared.Right.Hold(); hold != nil && hold.Err() == nil {
			c.term(ctx, hold)
			continue
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
	return nil
}

// again is the pause after a term that could not begin.
const again = 250 * time.Millisecond

// term controls the devices until the right to it ends.
func (c *Controller) term(ctx context.Context, hold context.Context) {
	c.busy.Store(true)
	defer c.busy.Store(false)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(hold, cancel)()
	err := c.decide(rightly{ctx, hold}, hold)
	if err == nil || ctx.Err() != nil {
		return
	}
	c.cfg.Log.WarnContext(ctx, "the state of control cannot be read and is tried again", slog.Any("err", err))
	pause := time.NewTimer(again)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
}

// decide opens the dispatcher of a term, and has it decide until ctx ends.
func (c *Controller) decide(ctx, hold context.Context) error {
	d, err := c.begin(ctx, hold)
	if err != nil {
		return err
	}
	c.cfg.Log.InfoContext(ctx, "this replica controls the devices")
	_ = d.Run(ctx) // always nil
	c.current.Store(nil)
	c.cfg.Log.InfoContext(ctx, "this replica does not control the devices any more")
	return nil
}

// begin opens the dispatcher of a term.
func (c *Controller) begin(ctx, hold context.Context) (*dispatch.Dispatcher, error) {
	log, err := c.shared.Open(ctx)
	if err != nil {
		return nil, err
	}
	c.declaring.Lock()
	defer c.declaring.Unlock()
	cfg := c.cfg
	cfg.Points, cfg.Devices = c.points, held{cfg.Devices, hold}
	cfg.Journal = newRecords(log, c.shared.Self, c.now)
	d, err := dispatch.Open(ctx, cfg)
	if err == nil {
		c.current.Store(&term{Dispatcher: d, hold: hold})
	}
	return d, err
}

// Declare sets exactly the points that control knows, see dispatch.Dispatcher.Declare.
func (c *Controller) Declare(ctx context.Context, points []dispatch.Point) error {
	c.declaring.Lock()
	defer c.declaring.Unlock()
	err := c.check(points)
	if d := c.Current(); d != nil && err == nil {
		if err = d.Declare(ctx, points); c.shared != nil && fault.Is(err, fault.Unavailable) {
			err = nil // the term ends: the next one begins with these points
		}
	}
	if err == nil {
		c.points = points
	}
	return err
}

// Hear receives a scan of a device, see dispatch.Dispatcher.Hear.
func (c *Controller) Hear(scan *point.Scan) {
	if d := c.Current(); d != nil {
		d.Hear(scan)
	}
}

// Trouble returns why nothing can be stored now, see dispatch.Dispatcher.Trouble.
func (c *Controller) Trouble() error {
	if d := c.Current(); d != nil {
		return d.Trouble()
	}
	return nil
}

// MismatchedPoints returns the points that do not have their commanded values; none if this node does not control them.
func (c *Controller) MismatchedPoints() []control.MismatchedPoint {
	if d := c.Current(); d != nil {
		return d.MismatchedPoints()
	}
	return nil
}

// Proposed returns the commands pending approval; none if this node does not control the devices.
func (c *Controller) Proposed() []control.Slot {
	if d := c.Current(); d != nil {
		return d.Proposed()
	}
	return nil
}

// Dismiss ends everything of a requester, see dispatch.Dispatcher.Dismiss. Who controls elsewhere is not told.
func (c *Controller) Dismiss(requester string) {
	if d := c.Current(); d != nil {
		d.Dismiss(requester)
	}
}

// Review reviews what a requester holds, see dispatch.Dispatcher.Review. Who controls elsewhere is not told.
func (c *Controller) Review(requester string, may dispatch.Rights) {
	if d := c.Current(); d != nil {
		d.Review(requester, may)
	}
}

// ReviewAll reviews what several requesters hold, see dispatch.Dispatcher.ReviewAll. Who controls elsewhere is not told.
func (c *Controller) ReviewAll(judge dispatch.Judge) {
	if d := c.Current(); d != nil {
		d.ReviewAll(judge)
	}
}

// rightly is a context that ends with a right, too, and looks at the clock itself.
type rightly struct {
	context.Context                 //nolint:containedctx // it is one
	hold            context.Context //nolint:containedctx // as long as this one
}

// Err implements context.Context.
func (r rightly) Err() error {
	if err := r.Context.Err(); err != nil {
		return err
	}
	return r.hold.Err()
}

var (
	errNobody = errors.New("no replica controls the devices at this moment; ask again in some seconds")
	errEnded  = errors.New("another replica takes control of the devices, and it is not known what became of the request; look at the point, or ask again with the same identifier in some seconds")
)

func errElsewhere(owner string) error {
	return fmt.Errorf("%s controls the devices now; ask again", owner)
}
