// Package service answers requests of agents on the bus: who they are and what they may do, recording samples, querying the history, and
// who else is connected. It consists of functions over the parts that hold the data; the bus delivers the requests.
package service

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"time"

	"voltbus/api/answer"
	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/ingest"
	"voltbus/internal/keymutex"
	"voltbus/operation"
	"voltbus/point"
	"voltbus/presence"
)

// Registry knows the agents and their rights, as package identity does.
type Registry interface {
	Agent(name string) (registry.Agent, error)
	List() []registry.Agent
	// Permissions is what an agent may do, and the restrictions on its callers.
	Permissions(name string) (registry.Permissions, error)
}

// Presence knows the health of agents, as package presence does.
type Presence interface {
	Look(agent string, since time.Time) presence.Health
	Forget(agent string)
	Leave(agent string)
}

// Connection is an agent connected to the bus.
type Connection struct {
	Agent   string
	Since   time.Time
	Address string
}

// Bus knows the connected agents.
type Bus interface {
	Connections() ([]Connection, error)
}

// Admission records samples, all of a batch or none, as package ingest/admission does.
type Admission interface {
	RecordWhole(ctx context.Context, b *ingest.Batch) error
}

// Repeats remembers writes with a key, as package catalog does.
type Repeats interface {
	BeginRepeat(ctx context.Context, r catalog.Repeat) (catalog.Repeat, error)
	EndRepeat(ctx context.Context, r catalog.Repeat) error
}

// Refusal is a request that an agent refused to another one.
type Refusal struct {
	Callee, Caller string
	Method         string
	Missing        string // the capability
	Args           []byte // JSON, as reported by the callee; nil if it does not report them
}

// Config is what the service needs. A nil source makes its methods answer that this node has no
// such part; Registry, Presence, Bus and Log are required.
type Config struct {
	Node       string // the node's name
	Registry   Registry
	Presence   Presence
	Bus        Bus
	Admission  Admission
	Bounds     point.Bounds // accepted range of times; the zero value accepts all
	Repeats    Repeats
	Operations *operation.Table // nil: no declared operations
	Tree       Tree
	Live       Live
	// Refused is called with refusals by agents. It must return at once.
	Refused func(Refusal)
	Log     *slog.Logger
	Now     func() time.Time
}

// Limits of requests. The bus allows an agent 64 in progress.
const (
	MaxBody    = 8 << 20         // bytes of a request or an answer
	MaxSamples = 100_000         // of one record request
	deadline   = 2 * time.Minute // for one request
)

// Service answers requests of agents. It is safe for concurrent use.
type Service struct {
	cfg     Config
	methods map[string]method // for agents of this node
	visited map[string]method // for other nodes
	clients clients
	parsers parsers
	ears    ears
	writing keymutex.Mutex[[2]string] // by agent and key
}

// New returns the service. It starts nothing.
func New(cfg Config) *Service {
	own := methods()
	asked := declaredMethods(cfg.Operations, func(d *operation.Declared) bool { return !d.People })
	maps.Copy(asked, own)
	return &Service{cfg: cfg, methods: asked, visited: visits(own, cfg.Operations), clients: clients{list: map[string]answer.AgentClient{}}}
}

var (
	errAbsent = errors.New("this node does not have it")
	errDefect = errors.New("the node met a defect; its log says more")
	errBody   = errors.New("the request has more than 8 MiB; send it in parts")
	errAnswer = errors.New("the answer has more than 8 MiB; ask for a shorter time, fewer points, a limit or pages")
)

// Call is a request as received.
type Call struct {
	From, Method string
	Body         []byte
	// Park is called when the request only waits from then on, for example for devices; may be nil.
	Park func()
	// Later receives work to do after the answer is sent, which is done before the program ends; nil if it is to be done before the answer.
	Later func(work func())
}

// Answer returns the body of the reply to a request. It never fails: errors are in the reply.
func (s *Service) Answer(ctx context.Context, c Call) []byte {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	result, err := s.ask(ctx, &c)
	if err == nil && len(result) > MaxBody-envelope {
		err = fault.E("service.Answer", fault.Invalid, c.Method, errAnswer)
	}
	if err != nil {
		return s.failed(ctx, c.From, c.Method, err)
	}
	return appendResult(result)
}

// envelope is the maximum size of a reply besides its result.
const envelope = 64

func (s *Service) ask(ctx context.Context, c *Call) ([]byte, error) {
	m, ok := s.methods[c.Method]
	if !ok {
		return nil, fault.E("service.Answer", fault.NotFound, clip(c.Method), s.unknown())
	}
	if len(c.Body) > MaxBody {
		return nil, fault.E("service.Answer", fault.Invalid, c.Method, errBody)
	}
	a, err := active(s.cfg.Registry, c.From)
	if err != nil {
		return nil, err
	}
	kwargs, err := parseEnvelope(c.Body)
	if err != nil {
		return nil, err
	}
	return m.answer(s, ctx, &request{agent: a, grants: a.Grants, kwargs: kwargs, park: c.Park, later: c.Later})
}

var errRevoked = errors.New("was shut out; ask an administrator to add it again")

// active returns an agent that is not shut out: it may have been while its request waited.
func active(list Registry, name string) (registry.Agent, error) {
	a, err := list.Agent(name)
	if err == nil && !a.Active() {
		err = fault.E("service.Answer", fault.Refused, name, errRevoked)
	}
	return a, err
}

// request is a request of an agent.
type request struct {
	agent  registry.Agent
	grants identity.Grants
	kwargs []byte        // JSON of an object; nil for none
	far    *RemoteCaller // the caller, if it came from another node; the agent is the neighbour
	park   func()
	later  func(work func())
}

// requester is the owner at another node of what is done; "" for an agent of this one.
func (r *request) requester() string {
	if r.far == nil {
		return ""
	}
	return r.far.Requester
}

// afterwards runs work that the answer need not wait for.
func (r *request) afterwards(work func()) {
	if r.later == nil {
		work()
		return
	}
	r.later(work)
}

// waits marks that from now on the request only waits for others.
func (r *request) waits() {
	if r.park != nil {
		r.park()
	}
}

func absent(what string) error { return fault.E("service", fault.Unavailable, what, errAbsent) }
