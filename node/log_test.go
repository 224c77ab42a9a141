package node_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/nodelog"
)

func TestANodesOwnLogIsReadFromAfarAsItAllows(t *testing.T) {
	t.Parallel()
	c := plantChain(t, map[string]string{
		"campus": passErrands, "plant": "uplink: {allow: [\"call node:log\"]}\n",
	}, nil)
	plant := c.region.At("plant")
	c.plant.Log().Warn("the roof leaks", slog.String("room", "attic"), slog.String("password", "hunter2"))
	list, err := client.Do(wait(t), plant, nodelog.Read, nodelog.Lines{Level: client.Lines{Level: "warning", Search: "roof"}.Level, Search: client.Lines{Level: "warning", Search: "roof"}.Search, Since: operation.Time(client.Lines{Level: "warning", Search: "roof"}.Since), Limit: client.Lines{Level: "warning", Search: "roof"}.Limit})
	if err != nil || len(list.Entries) != 1 || list.Entries[0].Level != "warning" ||
		string(list.Entries[0].Extra) != `{"room":"attic","password":"(hidden)"}` {
		t.Fatalf("the log of the plant at the region: %+v, %v", list, err)
	}
	if _, err := client.Do(wait(t), c.region.At("campus"), nodelog.Read, nodelog.Lines{Level: client.Lines{}.Level, Search: client.Lines{}.Search, Since: operation.Time(client.Lines{}.Since), Limit: client.Lines{}.Limit}); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "campus says: missing: call node:log") {
		t.Errorf("what campus does not allow: %v", err)
	}
	ctx, stop := context.WithCancel(wait(t))
	defer stop()
	got := make(chan answer.NodeLogLine, 10)
	ended := make(chan error, 1)
	go func() {
		ended <- plant.FollowNodeLog(ctx, client.Lines{Search: "roof"}, func(l answer.NodeLogLine) error { got <- l; return nil },
			func(uint64) error { return nil })
	}()
	if l := <-got; l.Message != "the roof leaks" {
		t.Errorf("the first line: %+v", l)
	}
	c.plant.Log().Info("the roof is mended")
	if l := <-got; l.Message != "the roof is mended" || l.Number <= list.Entries[0].Number {
		t.Errorf("the next line: %+v", l)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the end: %v", err)
	}
	for _, told := range []struct {
		at             *member
		action, begins string
	}{
		{&c.region, "log.read", "person:admin log.read ok"},
		{&c.campus, "node.pass", "person:region/admin node.pass ok"},
		{&c.plant, "log.read", "person:region/admin log.read ok"},
	} {
		awaitTrue(t, told.at.cfg.Node.Name+" tells its audit log "+told.begins, func() bool { return told.at.hasTold(told.action, told.begins) })
	}
}

func TestANodesOwnLogIsForEngineersAndFollowedWithoutGaps(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere))
	token, err := r.Issue(wait(t), identity.User{Name: "otto", Role: identity.Operator})
	if err != nil {
		t.Fatal(err)
	}
	operator, err := client.New(r.HTTPAddr(), token, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(wait(t), operator, nodelog.Read, nodelog.Lines{Level: client.Lines{}.Level, Search: client.Lines{}.Search, Since: operation.Time(client.Lines{}.Since), Limit: client.Lines{}.Limit}); !fault.Is(err, fault.Refused) {
		t.Errorf("an operator reads the log: %v", err)
	}
	r.Log().Info("round", slog.Int("n", -1))
	ctx, stop := context.WithCancel(wait(t))
	defer stop()
	got := make(chan string, 10_000)
	ended := make(chan error, 1)
	go func() {
		ended <- r.Client.FollowNodeLog(ctx, client.Lines{Search: "round"}, func(l answer.NodeLogLine) error { got <- string(l.Extra); return nil },
			func(n uint64) error { t.Errorf("%d were lost", n); return nil })
	}()
	const rounds = 2500
	for i := -1; i < rounds; i++ {
		if extra := <-got; extra != fmt.Sprintf(`{"n":%d}`, i) {
			t.Fatalf("%s comes where %d is next", extra, i)
		}
		if i < 0 { // it follows
			for n := range rounds {
				r.Log().Info("round", slog.Int("n", n))
			}
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the end: %v", err)
	}
}
