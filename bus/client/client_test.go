package client_test

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/bus/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/wire"
)

func granted(list ...point.Pattern) []point.Pattern { return list }

func refused(capability string) func(error) bool {
	return func(err error) bool {
		return fault.Is(err, fault.Refused) && identity.MissingOf(err) == capability
	}
}

func TestARefusalThatComesLateIsReportedAndFailsTheNext(t *testing.T) {
	h := openHall(t)
	denied := "live.scan.analysis"
	h.denied.Store(&denied)
	c, reports := h.enter("calc", identity.Grants{Publish: granted("analysis")}, nil)
	scan := &point.Scan{Device: "analysis", Time: time.Now(), Samples: []point.Sample{{Point: "analysis/a", Value: point.IntOf(1)}}}
	must(t, c.Publish(scan))
	await(t, reports, "the refusal", refused("publish analysis"))
	if err := c.Publish(scan); !refused("publish analysis")(err) {
		t.Errorf("the next gives %v", err)
	}
	must(t, c.Publish(scan)) // it was told, and is tried anew
	await(t, reports, "the refusal again", refused("publish analysis"))
}

func TestMessagesThatAreNotTakenInTimeAreCounted(t *testing.T) {
	h := openHall(t)
	sender, _ := h.enter("sender", identity.Grants{Publish: granted("flood")}, nil)
	hearer, reports := h.enter("hearer", identity.Grants{Subscribe: granted("flood")}, nil)
	release := make(chan struct{})
	var taken atomic.Int64
	sub, err := hearer.Messages("flood", func(client.Message) {
		<-release
		taken.Add(1)
	})
	must(t, err)
	const sent = 100
	body := append(append([]byte{'"'}, bytes.Repeat([]byte{'x'}, 1<<20)...), '"')
	for range sent {
		must(t, sender.Send("flood", body, nil))
	}
	await(t, reports, "the loss", func(err error) bool { return fault.Is(err, fault.Unavailable) })
	// Each waits for the one before, so an answer means that all came in.
	must(t, sender.Call(wait(t), wire.NodeName, "ping", nil))
	must(t, hearer.Call(wait(t), wire.NodeName, "ping", nil))
	lost := int64(sub.Lost())
	if lost == 0 || lost >= sent {
		t.Errorf("%d of %d are lost", lost, sent)
	}
	close(release)
	hearer.Close()
	if taken.Load()+lost > sent {
		t.Errorf("%d were taken and %d lost of %d", taken.Load(), lost, sent)
	}
}

func TestGrantsThatBecomeFewerHoldForAnOpenClient(t *testing.T) {
	h := openHall(t)
	c, reports := h.enter("calc", identity.Grants{Publish: granted("analysis"), Subscribe: granted("analysis")}, nil)
	heard := make(chan point.Path, 10)
	_, err := c.Messages("analysis", func(m client.Message) { heard <- m.Topic })
	must(t, err)
	must(t, c.Send("analysis/a", 1, nil))
	if topic := <-heard; topic != "analysis/a" {
		t.Errorf("heard %s", topic)
	}
	_, err = h.registry.SetGrants(t.Context(), "calc", identity.Grants{Publish: granted("other")})
	must(t, err)
	var isBack, isTold bool // in any order
	await(t, reports, "the new connection, and that the subscription is refused", func(err error) bool {
		isBack, isTold = isBack || err == nil, isTold || (fault.Is(err, fault.Refused) && identity.MissingOf(err) != "")
		return isBack && isTold
	})
	if err := c.Send("analysis/b", 1, nil); !refused("publish analysis/b")(err) {
		t.Errorf("what was withdrawn gives %v", err)
	}
	must(t, c.Send("other/a", 1, nil))
	if g := c.Permissions().Grants; len(g.Subscribe) != 0 || len(g.Publish) != 1 {
		t.Errorf("the standing is %+v", g)
	}
	if len(heard) != 0 {
		t.Errorf("heard %s", <-heard)
	}
}

func TestAfterANewConnectionDocumentsAreToBeReadAgain(t *testing.T) {
	h := openHall(t)
	var key string
	c, _ := h.enter("calc", identity.Grants{}, func(o *client.Options) { key = o.Key.Public() })
	changes := make(chan client.ConfigChange, 10)
	stop := c.WatchConfig(func(change client.ConfigChange) { changes <- change })
	must(t, h.Notify("calc", wire.NewsConfig, []byte(`{"owner":"agent/calc","name":"limits","action":"set","version":2}`)))
	if change := <-changes; change != (client.ConfigChange{Owner: "agent/calc", Name: "limits", Action: "set", Version: 2}) {
		t.Errorf("told is %+v", change)
	}
	h.Drop(key, "the test wants it")
	if change := <-changes; change.Action != client.ConfigMissed {
		t.Errorf("after the new connection %+v is told", change)
	}
	stop()
}

func TestAtMostSoManyCallsRunAndAllAreAnswered(t *testing.T) {
	h := openHall(t)
	callee, _ := h.enter("callee", identity.Grants{}, func(o *client.Options) { o.Handlers = 3 })
	var running, most atomic.Int64
	must(t, callee.Handle(client.Method{Name: "double", Params: []wire.Param{{Name: "value", Kind: wire.EitherParam}}, Do: func(_ context.Context, r *client.Request) (any, error) {
		n := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		var v float64
		err := r.Arg(0, &v)
		return 2 * v, err
	}}))
	caller, _ := h.enter("caller", identity.Grants{Call: []identity.CallGrant{{Agent: "callee"}}}, nil)
	var group sync.WaitGroup
	for i := range 300 {
		group.Go(func() {
			var got float64
			if err := caller.Call(wait(t), "callee", "double", &got, float64(i)); err != nil || got != float64(2*i) {
				t.Errorf("double %d is %v, %v", i, got, err)
			}
		})
	}
	group.Wait()
	if most.Load() > 3 {
		t.Errorf("%d ran at once", most.Load())
	}
}

func TestClosingWaitsForWhatRunsAndEndsIt(t *testing.T) {
	h := openHall(t)
	callee, _ := h.enter("callee", identity.Grants{}, nil)
	begun, ended := make(chan struct{}), atomic.Bool{}
	must(t, callee.Handle(client.Method{Name: "sleep", Do: func(ctx context.Context, _ *client.Request) (any, error) {
		close(begun)
		<-ctx.Done()
		ended.Store(true)
		return nil, ctx.Err()
	}}))
	caller, _ := h.enter("caller", identity.Grants{Call: []identity.CallGrant{{Agent: "callee"}}}, nil)
	answered := make(chan error, 1)
	go func() { answered <- caller.Call(wait(t), "callee", "sleep", nil) }()
	<-begun
	callee.Close()
	if !ended.Load() {
		t.Error("the method still runs")
	}
	if err := <-answered; !fault.Is(err, fault.Canceled) {
		t.Errorf("the caller gets %v", err)
	}
	if err := caller.Call(wait(t), "callee", "sleep", nil); !fault.Is(err, fault.Unreachable) {
		t.Errorf("a call of one that left gives %v", err)
	}
}

func TestALiveMessageAboutSomethingElseThanItsSubjectIsNotTaken(t *testing.T) {
	h := openHall(t)
	hearer, reports := h.enter("hearer", identity.Grants{Subscribe: granted("**")}, nil)
	heard := make(chan point.Path, 10)
	_, err := hearer.Subscribe(wire.Selection{}, func(samples []point.Sample) { heard <- samples[0].Point })
	must(t, err)
	scan := wire.AppendScan(nil, &point.Scan{Device: "site/ahu", Time: time.Now(), Samples: []point.Sample{{Point: "site/ahu/temp", Value: point.IntOf(1)}}})
	dial := h.plain("evil", identity.Grants{Publish: granted("analysis", "site/ahu")})
	must(t, dial.Publish("live.scan.analysis", scan))
	must(t, dial.Publish("live.scan.site.ahu", scan))
	await(t, reports, "the wrong one", func(err error) bool { return fault.Is(err, fault.Corrupt) })
	if p := <-heard; p != "site/ahu/temp" || len(heard) != 0 {
		t.Errorf("heard %s and %d more", p, len(heard))
	}
}
