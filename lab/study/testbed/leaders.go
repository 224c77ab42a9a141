package testbed

import (
	"context"
	"fmt"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/lab/regulate"
)

// leadersMethod says how a campus without a master is run.
func leadersMethod(more ...string) []string {
	return regulationMethod(append([]string{
		"Nodes with units each say every 10 seconds that they are there, and how their units are. A node that has been silent for 30 seconds is taken for absent; the smallest address that is heard leads, and decides each 2 seconds.",
		"A majority elects by Raft, with the same beat and the same silence.",
		"Without a leader each node tells two others, drawn by lot, each 2 seconds what it has heard of all units, and decides for its own units by the same rules.",
		"In a market each node is allotted its part of the power that the signal leaves, and nodes trade the rest by a double auction each 4 seconds. The smallest address that is heard finds the price.",
	}, more...)...)
}

// campusSettings are those of a campus without a master.
func campusSettings(more ...experiment.Setting) []experiment.Setting {
	return append([]experiment.Setting{
		{Name: "nodes", Default: "50", Quick: "20", Doc: "nodes of the campus"},
		{Name: "units", Default: "1000", Quick: "200", Doc: "air conditioners of all nodes"},
		{Name: "length", Default: "24h", Quick: "2h", Doc: "virtual time"},
		{Name: "share", Default: "20", Doc: "capacity that is offered, in % of the need"},
	}, more...)
}

// campusOf returns the campus that the settings of a run describe.
func campusOf(b *experiment.Bench, t *experiment.Trial) regulate.Campus {
	return regulate.Campus{Nodes: max(1, b.Int("nodes")), Config: regulate.Config{
		Units: b.Int("units"), Length: b.Duration("length"), Share: float64(b.Int("share")) / 100,
		Seed: uint64(b.Seed()) + uint64(t.Repeat), //nolint:gosec // a seed is any number
	}}
}

// packetLoss compares a master and an elected leader where messages are lost.
func packetLoss() experiment.Experiment {
	return experiment.Experiment{
		Name:     "packet-loss",
		Title:    "Messages are lost: a master, an elected leader, and no leader",
		Question: "What does the loss of 1, 5 and 20 % of all messages cost a fleet that follows a signal, with a master, with an elected leader and without any leader?",
		Source:   appendix + ": robustness is named as a goal; no score is published",
		Method:   leadersMethod("The same buildings follow the same signal with one master, whose units report each 10 seconds, with a leader that the nodes elect, by the smallest address or by a majority, with nodes that decide for themselves, and with nodes that trade. Each message is lost by itself with the given probability."),
		Limits:   regulationLimits(),
		Metric:   experiment.Metric{Name: "composite score", Unit: "of 1", Axis: "% of messages lost", Higher: true},
		Settings: campusSettings(experiment.Setting{Name: "losses", Default: "0,1,5,20", Doc: "messages that are lost, in %"}),
		Run: func(ctx context.Context, b *experiment.Bench) error {
			losses, err := numbers("losses", b.Text("losses"), 0, 99)
			if err != nil {
				return err
			}
			for _, loss := range losses {
				c := experiment.Case{Name: fmt.Sprintf("a master, %d %% lost", loss), X: float64(loss), Line: "a master"}
				err := regulateOnce(ctx, b, c, regulate.Config{Units: b.Int("units"), Length: b.Duration("length"), Loss: float64(loss) / 100, Share: float64(b.Int("share")) / 100})
				if err != nil {
					return err
				}
			}
			for _, way := range ways() {
				for _, loss := range losses {
					c := experiment.Case{Name: fmt.Sprintf("%s, %d %% lost", way.name, loss), X: float64(loss), Line: way.name}
					if err := lead(ctx, b, c, way, harm{loss: loss}); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// leaderKill studies a campus whose leader is killed again and again.
func leaderKill() experiment.Experiment {
	return experiment.Experiment{
		Name:     "leader-kill",
		Title:    "A campus without a master: its leader is killed again and again",
		Question: "How well does a campus follow a signal whose nodes elect a leader, if each leader is killed; and one without a leader, if its nodes are killed in turn?",
		Source:   appendix + ": nodes elect the smallest address, and elect anew when it is down; no score is published",
		Method: leadersMethod(
			"At each kill the process of the leader ends at once, without a hand-over. It starts again a minute later, knows nothing but its vote, and takes over if it has the smallest address. Without a leader one node after another is killed so, and in a market the auctioneer. Its units outlive it, with their thermostats.",
		),
		Limits: regulationLimits(),
		Metric: experiment.Metric{Name: "composite score", Unit: "of 1", Axis: "kills an hour", Higher: true},
		Settings: campusSettings(
			experiment.Setting{Name: "loss", Default: "5", Doc: "messages that are lost, in %"},
			experiment.Setting{Name: "kills", Default: "0s,30m,10m,5m,2m", Quick: "0s,10m", Doc: "times between two kills of the leader, or of a node, at least 2m, with commas between; 0s for none"},
		),
		Run: func(ctx context.Context, b *experiment.Bench) error {
			for text := range strings.SplitSeq(b.Text("kills"), ",") {
				kill, err := time.ParseDuration(strings.TrimSpace(text))
				if err != nil || kill != 0 && kill < 2*time.Minute {
					return fault.E("study.leader-kill", fault.Invalid, "kills", fmt.Errorf("%q: write times of 2m or more with commas between, or 0s for none", text))
				}
				c, when := experiment.Case{}, "nobody is killed"
				if kill > 0 {
					c.X, when = time.Hour.Seconds()/kill.Seconds(), "a kill each "+strings.TrimSuffix(kill.String(), "0s")
				}
				for _, way := range ways() {
					c.Name, c.Line = way.name+", "+when, way.name
					if err := lead(ctx, b, c, way, harm{kill, min(99, max(0, b.Int("loss")))}); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// way is how a campus is led.
type way struct {
	name string
	run  func(context.Context, regulate.Campus) (*regulate.Led, error)
}

// ways are those without a master.
func ways() []way {
	return []way{
		{"the smallest address leads", regulate.RunCampus},
		{"a majority elects", func(ctx context.Context, c regulate.Campus) (*regulate.Led, error) {
			c.Raft = true
			return regulate.RunCampus(ctx, c)
		}},
		{"no leader", regulate.RunGossip},
		{"a market", regulate.RunMarket},
	}
}

// harm is what is done to a campus.
type harm struct {
	kill time.Duration // between two kills; 0: none
	loss int           // %
}

// lead measures a case.
func lead(ctx context.Context, b *experiment.Bench, c experiment.Case, w way, harm harm) error {
	return b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error {
		run := campusOf(b, t)
		run.Kill, run.Loss = harm.kill, float64(harm.loss)/100
		o, err := w.run(ctx, run)
		if err != nil {
			return err
		}
		tellLed(b, c, t, o)
		return nil
	})
}

func tellLed(b *experiment.Bench, c experiment.Case, t *experiment.Trial, o *regulate.Led) {
	tellRegulation(b, c, t, &o.Outcome)
	t.Also("kills", "", float64(o.Kills))
	t.Also("terms", "", float64(o.Terms))
	t.Also("orders of old leaders refused", "", float64(o.Old))
}

// campuses studies three campuses that meet one need.
func campuses() experiment.Experiment {
	return experiment.Experiment{
		Name:     "campuses",
		Title:    "Three campuses meet a need in proportion to what each can contribute",
		Question: "How well do campuses whose elected leaders exchange their flexibility follow one signal together, and is the need divided in proportion?",
		Source:   appendix + ": leaders exchange flexibility, and the need is met in proportion to what each campus can contribute; no score is published",
		Method: leadersMethod(
			"Each leader offers each 10 seconds by how much its campus can consume more and less now, at most a share of its baseline. All leaders hear the offers, unless they are lost, and each computes the parts of all from what it heard; nobody decides for all. An offer counts for 30 seconds.",
			"The score is that of all campuses together. The part of a campus is what its leader took on, as a mean; it is told beside the mean of what it offered in that direction.",
		),
		Limits: regulationLimits(),
		Metric: experiment.Metric{Name: "composite score", Unit: "of 1", Axis: "% of messages lost", Higher: true},
		Settings: []experiment.Setting{
			{Name: "units", Default: "200,400,800", Quick: "50,100,200", Doc: "air conditioners of each campus, with commas between"},
			{Name: "nodes", Default: "50", Quick: "10", Doc: "nodes of each campus"},
			{Name: "length", Default: "24h", Quick: "2h", Doc: "virtual time"},
			{Name: "losses", Default: "0,5", Quick: "5", Doc: "messages that are lost, in %"},
			{Name: "kill", Default: "10m", Doc: "time between two kills of the leader of each campus in the second line, at least 2m"},
			{Name: "share", Default: "20", Doc: "what a campus offers at most, in % of its baseline"},
			{Name: "need", Default: "15", Doc: "what the signal 1 asks of all, in % of their baseline"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			losses, err := numbers("losses", b.Text("losses"), 0, 99)
			if err != nil {
				return err
			}
			units, err := numbers("units", b.Text("units"), 1, 1_000_000)
			if err != nil {
				return err
			}
			for _, kill := range []time.Duration{0, max(2*time.Minute, b.Duration("kill"))} {
				for _, loss := range losses {
					if err := meet(ctx, b, units, kill, loss); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// meet measures a case of several campuses.
func meet(ctx context.Context, b *experiment.Bench, units []int, kill time.Duration, loss int) error {
	line := "leaders live"
	if kill > 0 {
		line = "leaders killed each " + strings.TrimSuffix(kill.String(), "0s")
	}
	c := experiment.Case{Name: fmt.Sprintf("%s, %d %% lost", line, loss), X: float64(loss), Line: line}
	return b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error {
		m, err := regulate.RunGroup(ctx, regulate.Group{Units: units, Need: float64(b.Int("need")) / 100, Campus: regulate.Campus{
			Nodes: max(1, b.Int("nodes")), Kill: kill, Config: regulate.Config{
				Length: b.Duration("length"), Loss: float64(loss) / 100, Share: float64(b.Int("share")) / 100,
				Seed: uint64(b.Seed()) + uint64(t.Repeat), //nolint:gosec // a seed is any number
			},
		}})
		if err != nil {
			return err
		}
		tellLed(b, c, t, &m.Led)
		for i := range m.Parts {
			name := fmt.Sprintf("campus %d, ", i+1)
			t.Also(name+"offer, mean", "kW", m.Offers[i])
			t.Also(name+"part", "% of its offer", 100*m.Parts[i]/m.Offers[i])
		}
		t.Also("need that nobody offered to meet", "%", 100*m.Missing)
		return nil
	})
}
