package lab

import (
	"context"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
)

// World is a Lab that also keeps a world in virtual time: buildings that follow a signal, regulated in several ways side by side. Methods other
// than StartWorld fail with fault.NotFound without a world.
type World interface {
	// StartWorld begins a world anew, in place of the one that is there.
	StartWorld(ctx context.Context, order WorldOrder) (WorldState, error)
	World(ctx context.Context) (WorldState, error)
	// Pace changes how fast time passes, from now on.
	Pace(ctx context.Context, pace float64) (WorldState, error)
	// Step lets a time pass at once.
	Step(ctx context.Context, span time.Duration) (WorldState, error)
	// KillLeader ends the process of the master, of the leader, of one node without a leader, and of the auctioneer, for a minute.
	KillLeader(ctx context.Context) (WorldState, error)
	// Lose changes the share of the messages that are lost.
	Lose(ctx context.Context, share float64) (WorldState, error)
	StopWorld(ctx context.Context) error
}

// The arguments and answers about a world.
type (
	// WorldOrder describes a world.
	WorldOrder struct {
		Units  int     `json:"units" api:"min=2,max=2000,default=50" doc:"Modelled buildings with a unit each"`
		Nodes  int     `json:"nodes" api:"min=1,max=100,default=10" doc:"Over which the units are distributed"`
		Hours  int     `json:"hours" api:"min=1,max=48,default=24" doc:"Virtual hours after which it ends"`
		Period float64 `json:"period" api:"min=2,max=3600,default=2" doc:"Seconds between two decisions"`
		Loss   float64 `json:"loss" api:"min=0,max=0.9" doc:"Share of the messages that are lost"`
		Pace   float64 `json:"pace" api:"min=0,max=1000000,default=60" doc:"Virtual seconds in a second; 0: pause"`
		Seed   int     `json:"seed" api:"min=0,max=1000000,default=1"`
	}
	// WorldPace says how fast time passes.
	WorldPace struct {
		Pace float64 `json:"pace" api:"required,min=0,max=1000000" doc:"Virtual seconds in a second, as far as the machine can; 0: pause"`
	}
	// WorldStep lets time pass.
	WorldStep struct {
		Seconds float64 `json:"seconds" api:"required,min=2,max=3600" doc:"Rounded to steps of 2"`
	}
	// WorldLoss makes the network lose messages.
	WorldLoss struct {
		Loss float64 `json:"loss" api:"required,min=0,max=0.9" doc:"Share of the messages that are lost"`
	}
	// WorldWait is something that happens next.
	WorldWait struct {
		At   time.Time `json:"at"`
		What string    `json:"what"`
	}
	// WorldWay is one of the ways to regulate, with the same buildings, signal and losses.
	WorldWay struct {
		Way       string   `json:"way" api:"one-of=central|leader|gossip|market"`
		Leader    string   `json:"leader" doc:"Who decides, or finds the price; empty while nobody does, and where all do"`
		Term      uint64   `json:"term"`
		Members   int      `json:"members" doc:"Processes that run"`
		Kills     int      `json:"kills"`
		Messages  int      `json:"messages"`
		Refused   int      `json:"refused" doc:"Orders of old leaders that units refused"`
		Capacity  float64  `json:"capacity" doc:"kW that the signal 1 asks for"`
		Power     float64  `json:"power" doc:"kW"`
		Response  float64  `json:"response" doc:"A share of the capacity, as the signal"`
		Composite *float64 `json:"composite" doc:"PJM's score: the mean of the whole hours so far; null before the first"`
		Precision *float64 `json:"precision" doc:"1 minus the mean error through the mean absolute signal so far; null while that is 0"`
		Comfort   float64  `json:"comfort" doc:"K·h outside of the band, of the unit that has it worst"`
		Switches  float64  `json:"switches" doc:"Of a unit so far, the mean"`
	}
	// WorldMoment is a point of the plot.
	WorldMoment struct {
		At      time.Time `json:"at"`
		Signal  float64   `json:"signal"`
		Central float64   `json:"central"`
		Leader  float64   `json:"leader"`
		Gossip  float64   `json:"gossip"`
		Market  float64   `json:"market"`
		Price   float64   `json:"price" doc:"Of the market, per kWh"`
		Traded  float64   `json:"traded" doc:"kW, in a round of the market"`
	}
	// WorldSite is a site of the market, in the last round.
	WorldSite struct {
		Site     string  `json:"site"`
		Runs     bool    `json:"runs" doc:"Its process runs"`
		Allotted float64 `json:"allotted" doc:"kW that the signal leaves it"`
		Power    float64 `json:"power" doc:"kW, when it bid"`
		Bought   float64 `json:"bought" doc:"kW"`
		Sold     float64 `json:"sold" doc:"kW"`
		Paid     float64 `json:"paid" doc:"Price × kWh so far; negative: earned"`
	}
	// WorldMarket is the double auction of the sites that trade.
	WorldMarket struct {
		Price  float64     `json:"price" doc:"Per kWh: how much the unit that traded last wants to run, from 0 to 1, less the friction if it bought, and with it if it sold"`
		Traded float64     `json:"traded" doc:"kW, in the last round"`
		Sites  []WorldSite `json:"sites" doc:"Those that traded most first"`
	}
	// WorldUnit is a unit of the campus that elects a leader, in its place of the stack.
	WorldUnit struct {
		Unit        string  `json:"unit"`
		Temperature float64 `json:"temperature" doc:"°C"`
		Position    float64 `json:"position" doc:"0 where it switches itself off, 1 where it switches itself on"`
		Runs        bool    `json:"runs"`
		Locked      bool    `json:"locked" doc:"Too soon after its last change"`
	}
	// WorldState is a world and where it is.
	WorldState struct {
		WorldOrder

		There  bool          `json:"there" doc:"There is a world"`
		Over   bool          `json:"over" doc:"Its hours have passed"`
		Begin  time.Time     `json:"begin"`
		Time   time.Time     `json:"time"`
		Signal float64       `json:"signal" doc:"Positive: consume less"`
		Ways   []WorldWay    `json:"ways"`
		Waits  []WorldWait   `json:"waits" doc:"What waits next, the first first"`
		Market WorldMarket   `json:"market"`
		Course []WorldMoment `json:"course" doc:"The last hour, and before that what fits"`
		Stack  []WorldUnit   `json:"stack" doc:"The coolest that runs first"`
	}
)

const worldBody = 4 << 10

// declareWorld declares an operation that changes a world.
func declareWorld[In any](name, http, id, summary, doc string) operation.Operation[In, WorldState] {
	return operation.Declare[In, WorldState](operation.Spec{
		Name: name, ID: id, HTTP: http, Role: identity.Engineer, Audited: true, Body: worldBody, Summary: summary, Result: "The world as it is then", Doc: doc,
	})
}

// The operations on a world.
var (
	WorldShow = operation.Declare[struct{}, WorldState](operation.Spec{
		Name: "world.state", ID: "getWorld", HTTP: "GET /lab/world", Role: identity.Viewer,
		Summary: "Read the world in virtual time: its clock, what each way of regulation does, what waits next", Result: "The world; without one, there is false",
		Doc: "Time passes while somebody asks, at the pace of the world.",
	})
	WorldStart = declareWorld[WorldOrder]("world.start", "POST /lab/world", "startWorld", "Begin a world of buildings that follow a regulation signal, in virtual time",
		"A master, an elected leader, nodes without a leader and sites that trade regulate the same buildings side by side. One that is there ends.")
	WorldPaced   = declareWorld[WorldPace]("world.pace", "POST /lab/world/pace", "paceWorld", "Change how fast the time of the world passes, or let it pause", "")
	WorldStepped = declareWorld[WorldStep]("world.step", "POST /lab/world/step", "stepWorld", "Let a time pass in the world at once", "")
	WorldKill    = operation.Declare[struct{}, WorldState](operation.Spec{
		Name: "world.kill", ID: "killWorldLeader", HTTP: "POST /lab/world/kill", Role: identity.Engineer, Audited: true,
		Summary: "Kill the leader of the world for a minute", Result: "The world as it is then", Doc: "And the master, one of the nodes without a leader, and the auctioneer of the market.",
	})
	WorldLose = declareWorld[WorldLoss]("world.loss", "POST /lab/world/loss", "loseWorldMessages", "Have the network of the world lose messages", "")
	WorldStop = operation.Declare[struct{}, operation.None](operation.Spec{
		Name: "world.stop", ID: "stopWorld", HTTP: "DELETE /lab/world", Role: identity.Engineer, Audited: true, Summary: "End the world", Result: "It is gone",
	})
)

// world lists the operations on a world; nobody keeps one where there is no lab.
func (p *Part) world() []operation.Bound {
	w, _ := p.Lab.(World)
	list := []operation.Bound{
		bindWorld(WorldShow, func(ctx context.Context, _ *struct{}) (WorldState, error) {
			state, err := w.World(ctx)
			if fault.Is(err, fault.NotFound) {
				return WorldState{Ways: []WorldWay{}, Market: WorldMarket{Sites: []WorldSite{}}, Waits: []WorldWait{}, Course: []WorldMoment{}, Stack: []WorldUnit{}}, nil
			}
			return state, err
		}),
		bindWorld(WorldStart, func(ctx context.Context, in *WorldOrder) (WorldState, error) { return w.StartWorld(ctx, *in) }),
		bindWorld(WorldPaced, func(ctx context.Context, in *WorldPace) (WorldState, error) { return w.Pace(ctx, in.Pace) }),
		bindWorld(WorldStepped, func(ctx context.Context, in *WorldStep) (WorldState, error) {
			return w.Step(ctx, time.Duration(in.Seconds*float64(time.Second)))
		}),
		bindWorld(WorldKill, func(ctx context.Context, _ *struct{}) (WorldState, error) { return w.KillLeader(ctx) }),
		bindWorld(WorldLose, func(ctx context.Context, in *WorldLoss) (WorldState, error) { return w.Lose(ctx, in.Loss) }),
		bindWorld(WorldStop, func(ctx context.Context, _ *struct{}) (operation.None, error) {
			return operation.None{}, w.StopWorld(ctx)
		}),
	}
	if w == nil {
		return operation.Absent(list)
	}
	return list
}

// bindWorld binds an operation that the audit log tells with its arguments.
func bindWorld[In, Out any](o operation.Operation[In, Out], do func(context.Context, *In) (Out, error)) operation.Bound {
	return operation.Bind(o, nil, func(ctx context.Context, c *operation.Call, in *In) (Out, error) {
		if o.Audited {
			c.Did("world", in)
		}
		return do(ctx, in)
	})
}
