// Package node is the composition root: it opens the parts in the order of the data flow, gives each what it needs, and stops them in
// reverse order. It does no work itself.
package node

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/agent"
	"voltbus/alarm/monitor"
	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/api/listener"
	"voltbus/audit"
	"voltbus/audit/head"
	"voltbus/audit/report"
	"voltbus/broker/front"
	"voltbus/bus"
	"voltbus/bus/blocklog"
	"voltbus/bus/keyholder"
	"voltbus/catalog"
	"voltbus/config"
	"voltbus/config/revision"
	"voltbus/control/access"
	"voltbus/control/mismatch"
	"voltbus/control/requester"
	"voltbus/control/term"
	"voltbus/device"
	"voltbus/document"
	"voltbus/driver"
	"voltbus/health"
	"voltbus/health/ownstatus"
	"voltbus/history"
	"voltbus/history/ledger"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/ingest/admission"
	"voltbus/ingest/outlet"
	"voltbus/internal/datadir"
	"voltbus/internal/descriptor"
	"voltbus/internal/logbook"
	"voltbus/internal/memory"
	"voltbus/meter/system"
	"voltbus/operation"
	"voltbus/operation/configuration"
	"voltbus/operation/declared"
	"voltbus/outside"
	"voltbus/owner"
	"voltbus/point"
	"voltbus/presence"
	"voltbus/recorder"
	"voltbus/replication"
	"voltbus/schedule/keeper"
	"voltbus/service"
	"voltbus/sink"
	"voltbus/statefile"
	"voltbus/uplink/children"
	"voltbus/uplink/descendants"
	"voltbus/uplink/enrol"
	"voltbus/uplink/federation"
	uplinkledger "voltbus/uplink/ledger"
	"voltbus/uplink/lineage"
	"voltbus/uplink/links"
	"voltbus/uplink/live"
	"voltbus/uplink/neighbour"
	"voltbus/uplink/parent"
	"voltbus/uplink/receiver"
	"voltbus/uplink/remote"
	"voltbus/uplink/replica"
	"voltbus/uplink/router"
	"voltbus/uplink/sender"
	"voltbus/uplink/tree"
)

// now is the clock of all parts that the node opens.
func now() time.Time { return time.Now() }

// Options configure a node.
type Options struct {
	Config *config.Config
	// File is the file that Config was loaded from, which the API shows and changes; "" for none.
	File    string
	Kinds   []driver.Kind // the drivers that the configuration may name
	Log     *slog.Logger
	Version answer.Version
	// Idle opens the node to inspect its data: it reads no devices, and leaves the catalogue unchanged.
	Idle bool
	// AgentExec is the command that becomes an agent's process, see agent.Config; without it the
	// node runs no agents, though agents may connect. SDK returns the Python SDK's wheel and its
	// name; nil for a program without one.
	AgentExec []string
	// Statement returns the command for the process of an SQL statement, see duckdb.Options; without it the engine duckdb answers none.
	Statement func(read []string, write string) []string
	SDK       func() (name string, wheel []byte, err error)
	// Stored is called with the blocks that have been stored, see sink.Config; may be nil.
	Stored func(blocks []*point.Block)
	// Lab runs experiments for the API; nil for a node without one. The caller closes it, after the node.
	Lab api.Lab
	// Valves is called when messages with meter readings have passed the node, see system.Watch; nil for a node that is not measured.
	Valves system.Entered
	// LoopbackTLS encrypts connections from this machine too, which is not needed, to measure the cost.
	LoopbackTLS bool
	// WentBack is what revision.Recover found when the configuration was read; may be nil.
	WentBack *revision.Trial
}

// Node is an open node. Its methods are safe for concurrent use.
type Node struct {
	opts    Options
	log     *slog.Logger
	logbook *logbook.Handler // nil for an idle node
	started time.Time

	claim       *datadir.Claim
	damage      statefile.Damage
	audit       *audit.Log
	report      *report.Reporter
	heads       *head.Heads
	docs        *document.Store
	asked       *operation.Table // the operations of this node
	present     *owner.Present   // nil for an idle node
	requests    *owner.Requests  // of and to other replicas; nil for a node alone
	room        *datadir.FreeSpace
	files       descriptor.Shares
	catalog     *catalog.Catalog
	identity    *identity.Identity
	agents      *registry.Agents
	children    *registry.Children
	host        *enrol.Host
	parent      *enrol.Parent
	rights      *keyholder.Changes
	neighbours  *neighbour.Neighbours
	asker       *remote.Asker
	answerer    *remote.Answerer
	reviewer    *requester.Reviewer // nil for an idle node
	bus         *bus.Bus
	blocks      *blocklog.Log
	history     *history.History
	account     *ledger.Ledger
	origin      string // the origin of the directory's own blocks
	recorder    *recorder.Recorder
	receiver    *receiver.Receiver
	sender      *sender.Sender
	judged      *outside.Parent // as the parent gets it; nil if no rule holds for it
	tree        *tree.Tree
	liveUp      *live.Up
	liveHub     *live.Hub
	kept        *replica.File // what is known of the descendants
	lineage     *lineage.Lineage
	nodes       *replica.Table           // of the descendants
	descendants *descendants.Descendants // the view of nodes for other parts
	reporter    *replica.Reporter
	own         *ownstatus.Own  // what this node reports to the parent
	link        *ownstatus.Link // and about the link to the parent
	router      *router.Router  // routes requests to their handlers
	links       *links.Links
	ledgers     *uplinkledger.Ledger
	below       *federation.Federation // answers for the parent
	wide        *federation.Federation // the same; nil without a store
	admission   *admission.Admission
	presence    *presence.AgentHealth
	service     *service.Service
	sink        *sink.Sink     // nil without a store
	meters      *system.System // nil for a node without a metering data system
	outlet      *outlet.Outlet
	leases      *owner.Leases // nil for a node alone
	lines       *owner.Lines
	fleet       *device.Fleet
	alarms      *device.Alarms
	monitor     *monitor.Monitor  // of alarms; nil for an idle node
	alarmsBelow *remote.Alarms    // of descendants
	reports     *declared.Mailing // nil for a node that sends none
	plant       *plant
	dispatcher  *term.Controller // nil for an idle node
	control     *access.Access   // nil for an idle node
	schedules   *keeper.Keeper   // nil for an idle node
	server      *listener.Listener
	settings    *configuration.Part   // nil for a node without a file
	mqtt        *front.Front          // nil for a node without a broker
	replicas    *replication.Replicas // nil for a node alone
	outside     *outside.Systems      // to external systems; none for an idle node
	mismatch    *mismatch.Alert
	health      *health.Health
	served      *children.Children // serves the children

	supervisor *agent.Supervisor // nil for a node that runs no agents
	installed  *owner.Agents     // those of the supervisor; nil without one

	begun sync.Once // the start is in the audit log
}

// Open creates a node from its configuration: it claims the data directory, opens log and store,
// and listens; it reads no devices before Run. An error is a sentence that says what to do. The
// caller calls Close, or Run, which closes it.
func Open(ctx context.Context, o Options) (*Node, error) {
	n := &Node{opts: o, log: o.Log, started: time.Now()}
	if !o.Idle {
		n.logbook = logbook.New(o.Log.Handler(), slog.LevelInfo, logBytes, operation.SecretName)
		n.log = slog.New(n.logbook)
	}
	for _, open := range []func(context.Context, *Node) error{
		shareFiles,
		openDirectory, setAside, openAudit, beginStore, openIdentity, openHeads, openChildren, openBus, openStore, openRecorder, openMetering, openFleet, openReceiver, openUplink, openTree, openMQTT, openReplicas, openOutward, openControl, openLive, openReports, openService, openAgents, openHealth, openServer,
	} {
		if err := open(ctx, n); err != nil {
			return nil, errors.Join(err, n.Close()) //nolint:contextcheck // what is closed is written, whoever waits
		}
	}
	return n, nil
}

// logBytes is how much of its own log a node keeps in memory, in bytes.
const logBytes = 1 << 20

// Log is the logger of the node: that of the options, with its newest records kept by the node.
func (n *Node) Log() *slog.Logger { return n.log }

// Close closes a node that is not running.
func (n *Node) Close() error {
	var errs []error
	if n.server != nil {
		errs = append(errs, n.server.Close())
	}
	if n.supervisor != nil {
		errs = append(errs, n.supervisor.Close())
	}
	if n.service != nil {
		n.service.Close()
	}
	if n.mqtt != nil {
		errs = append(errs, n.mqtt.Close())
	}
	errs = append(errs, n.monitor.Close(), n.history.Close(), n.meters.Close())
	if n.bus != nil {
		errs = append(errs, n.bus.Close())
	}
	errs = append(errs, n.dispatcher.Close())
	if n.catalog != nil {
		if n.heads != nil {
			errs = append(errs, n.heads.Keep(context.Background()))
		}
		errs = append(errs, n.catalog.Close())
	}
	if n.audit != nil {
		errs = append(errs, n.audit.Close())
	}
	if n.claim != nil {
		errs = append(errs, forgetAddresses(n.opts.Config.Node.Data), n.claim.Release())
	}
	return errors.Join(errs...)
}

// Run collects, stores and answers until ctx ends, then stops the parts in the direction of the
// data (devices, recorder, store), so that everything accepted is kept, and closes the node. It
// returns nil after a clean stop.
func (n *Node) Run(ctx context.Context) error {
	// A part that fails stops the node; the others still stop in order.
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var upward []*stage
	start := func(name string, run func(context.Context) error) { //nolint:contextcheck // parts end one after another, not with ctx
		upward = append(upward, startStage(name, run, fail))
	}
	start("memory", memory.Follow)
	start("audit", n.audit.Run)
	n.reportStart(ctx)
	start("audit heads", n.heads.Run)
	start("links", n.links.Run)
	if n.sink != nil {
		start("store upkeep", n.history.Run)
		start("sink", n.sink.Run)
	}
	start("metering", n.meters.Run)
	if n.history.Database() != nil {
		start("points of the database", func(ctx context.Context) error { return n.history.Adopt(ctx, n.catalog) })
	}
	if !n.opts.Idle {
		start("judge", n.judged.Run)
		start("uplink", func(ctx context.Context) error { return parent.Follow(ctx, n.parent, n.sender) })
	}
	start("recorder", n.recorder.Run)
	if !n.opts.Idle {
		start("children", n.receiver.Run)
		start("live messages", n.liveHub.Run)
		start("reports", n.reporter.Run)
	}
	start("replicas", n.replicas.Run)
	start("systems outside", n.outside.Run)
	if n.mqtt != nil {
		start("mqtt", func(ctx context.Context) error { return runMQTT(ctx, n) })
	}
	start("presence", n.presence.Run)
	startAlarms(n, start)
	start("devices", func(ctx context.Context) error { return n.lines.Run(ctx, n.fleet.Run) })
	start("recovery", func(ctx context.Context) error { return n.fleet.LookAfter(ctx, recorded(n), n.alarms) })
	if n.dispatcher != nil {
		startControl(n, start)
	}
	if n.supervisor != nil {
		start("agents", n.installed.Run)
	}
	start("approval", func(ctx context.Context) error {
		return n.parent.Run(ctx, parent.Knock, func(err error) { n.log.InfoContext(ctx, "the parent was asked", slog.Any("err", err)) })
	})
	if n.settings != nil && !n.opts.Idle {
		start("trial", n.settings.Run)
	}
	start("server", n.server.Run)
	<-ctx.Done()
	n.log.InfoContext(ctx, "node stops")
	var errs []error
	for _, s := range slices.Backward(upward) {
		switch s.name {
		case "sink":
			n.Settle() //nolint:contextcheck // has a bound of its own
		case "audit":
			n.report.Node(ctx, "node.stop", errors.Join(errs...), nil) // a clean stop, or the part that failed
		}
		errs = append(errs, s.stop())
	}
	return errors.Join(append(errs, n.Close())...) //nolint:contextcheck // what is closed is written, whoever waits
}

// settleTime bounds how long a stopping node waits for the store to catch up with the log.
const settleTime = 5 * time.Second

// Settle waits for the store to catch up with the log, for a few seconds at most. The rest stays in
// the log and is stored later, even after a restart.
func (n *Node) Settle() {
	if n.sink == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	_, last, err := n.blocks.Bounds(ctx)
	if err != nil {
		return
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for n.sink.Stats().Sequence < last && n.sink.Stats().Err == nil {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// stage is a running part.
type stage struct {
	name  string
	end   context.CancelFunc
	group errgroup.Group
}

func startStage(name string, run func(context.Context) error, fail context.CancelCauseFunc) *stage {
	ctx, end := context.WithCancel(context.Background())
	s := &stage{name: name, end: end}
	s.group.Go(func() error {
		err := run(ctx)
		if err != nil || ctx.Err() == nil {
			fail(err)
		}
		return err
	})
	return s
}

func (s *stage) stop() error {
	s.end()
	return s.group.Wait()
}

// Config returns the configuration in use.
func (n *Node) Config() *config.Config { return n.plant.current() }

// Handler returns the handler of the API, for use without a socket.
func (n *Node) Handler() http.Handler { return n.server.Handler() }

// HTTPAddr returns the address of the page and the API as a URL, "" if it does not listen.
func (n *Node) HTTPAddr() string { return n.server.URL() }

// BusAddr returns the address for bus clients, "" if it does not listen.
func (n *Node) BusAddr() string { return n.bus.Addr() }

// Agents returns the registry of the agents that may use the bus.
func (n *Node) Agents() *registry.Agents { return n.agents }

// Record makes samples durable: when it returns nil they are on disk. See recorder.Record.
func (n *Node) Record(ctx context.Context, samples []point.Sample) error {
	return n.recorder.Record(ctx, samples)
}

// Forward appends a block of another origin to the log as it is. See recorder.Forward.
func (n *Node) Forward(ctx context.Context, b *point.Block, data []byte) (wait func(context.Context) error, err error) {
	return n.recorder.Forward(ctx, b, data)
}

// Issue creates a token for a user, who is added with the role or changed to it, and returns it in plain text.
func (n *Node) Issue(ctx context.Context, u identity.User) (string, error) {
	return n.identity.Logins.Issue(ctx, u)
}
