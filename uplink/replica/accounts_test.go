package replica_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/uplink/replica"
)

func origin(name string, own bool, acknowledged uint64) answer.Origin {
	return answer.Origin{Origin: name, Own: own, Produced: acknowledged, Acknowledged: acknowledged, Stored: acknowledged, Balanced: true}
}

// chain is region ◀ campus ◀ house, where the house has 1,000 samples and the campus 950 of them.
func chain() (region, campus, house *site) {
	region = plant("region", nil)
	campus = plant("campus", region)
	house = plant("house", campus)
	house.ledger.Origins, house.held = []answer.Origin{origin("house~a", true, 1000)}, map[string]uint64{"house~a": 950}
	campus.ledger.Origins = []answer.Origin{origin("campus~b", true, 0), origin("house~a", false, 950)}
	return region, campus, house
}

// states lists the accounts below as path, state and samples.
func (s *site) states() string {
	var list []string
	for _, a := range s.table.Accounts() {
		var n uint64
		for _, o := range a.Origins {
			n += o.Acknowledged
		}
		list = append(list, fmt.Sprint(strings.Join(a.Path, "/"), " ", a.State, " ", n))
	}
	return strings.Join(list, ", ")
}

func TestTheAccountsOfAllNodesBelowAreKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		region, campus, house := chain()
		live(t, []*site{region, campus, house}, func() {
			if got := region.states(); got != "campus current 950, campus/house current 1000" {
				t.Errorf("the accounts are %s", got)
			}
			if h := region.table.Accounts()[1].Origins[0]; !h.Own || h.Above == nil || *h.Above != 950 {
				t.Errorf("the house says %+v", h)
			}
			house.mu.Lock()
			house.ledger.Origins = []answer.Origin{origin("house~a", true, 1100)}
			house.mu.Unlock()
			began := time.Now()
			region.report.Refresh(t.Context())
			if got := region.states(); got != "campus current 950, campus/house current 1100" || time.Since(began) > 0 {
				t.Errorf("who asks hears, after %v, %s", time.Since(began), got)
			}
		})
	})
}

func TestOfANodeThatIsAwayIsKnownWhatItSaidLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		region, campus, house := chain()
		region.open(t.TempDir())
		dir := t.TempDir()
		region.open(dir)
		live(t, []*site{region, campus, house}, func() { campus.link(false) }, func() {})
		for _, what := range []string{"running", "after a start"} {
			for _, a := range region.table.Accounts() {
				if a.State != "old" || !strings.HasPrefix(a.Reason, "not connected since") || a.AsOf.IsZero() || len(a.Origins) == 0 {
					t.Errorf("%s, %s is %+v", what, a.Node, a)
				}
			}
			if s, known := region.table.Look("campus", "house"); !known || s.Devices != 10_000 || s.Kept != (what != "running") {
				t.Errorf("%s, the house is %v, %+v", what, known, s)
			}
			region.open(dir)
		}
		region.open(t.TempDir())
		if a := region.table.Accounts()[0]; a.State != "silent" {
			t.Errorf("without anything said: %+v", a)
		}
	})
}

func TestWhoAsksWhileAChildIsSlowHearsInTimeWhatIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		region, campus, house := chain()
		live(t, []*site{region, campus, house}, func() {
			campus.mu.Lock()
			campus.deaf = true
			campus.mu.Unlock()
			began := time.Now()
			region.report.Refresh(t.Context())
			if took := time.Since(began); took > 4*time.Second || region.states() == "" {
				t.Errorf("an answer took %v", took)
			}
			if a := region.table.Accounts()[0]; a.State != "old" || a.Reason == "" {
				t.Errorf("the campus is %+v", a)
			}
		})
	})
}

func TestWhoAsksAndLeavesSpoilsNothingForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		region, campus, house := chain()
		live(t, []*site{region, campus, house}, func() {
			gone, hangUp := context.WithCancel(t.Context())
			hangUp()
			region.report.Refresh(gone)
			if got := region.states(); got != "campus current 950, campus/house current 1000" {
				t.Errorf("the accounts are %s", got)
			}
		})
	})
}

func TestWhatTheDiskDidNotTakeIsWrittenLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		region, campus, house := chain()
		dir := filepath.Join(t.TempDir(), "gone")
		region.open(dir)
		live(t, []*site{region, campus, house}, func() {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}, func() {
			if data, err := os.ReadFile(filepath.Join(dir, replica.FileName)); err != nil || replica.Check(data) != nil {
				t.Errorf("what the child said: %v, %v", err, replica.Check(data))
			}
		})
	})
}

func TestAttackAChildThatTalksNonsenseOfItsLedgerIsNotBelieved(t *testing.T) {
	many := map[string]json.RawMessage{}
	for i := range 10_001 {
		many[fmt.Sprintf("origin:%d", i)] = json.RawMessage("1")
	}
	lots, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{string(lots), `{"ledger":"` + strings.Repeat("x", 70_000) + `"}`, `{"origin:` + strings.Repeat("x", 300) + `":1}`, `{"origin:a":"` + strings.Repeat("x", 3000) + `"}`} {
		table := tableOf("plant")
		if _, err := table.Take("plant", []byte(`{"nodes":[{"v":1,"s":`+part+`}]}`), ""); !fault.Is(err, fault.Invalid) {
			t.Errorf("%.40s: %v", part, err)
		}
		if a := table.Accounts()[0]; a.State != "silent" || len(a.Origins) > 0 {
			t.Errorf("%.40s: %+v", part, a)
		}
	}
	table := tableOf("plant")
	if _, err := table.Take("plant", []byte(`{"nodes":[{"v":1,"s":{"ledger":[7],"origin:a":"b","node":9}}]}`), ""); err != nil {
		t.Error(err)
	}
	if a := table.Accounts()[0]; a.State != "silent" || len(a.Origins) > 0 {
		t.Errorf("what cannot be read counts as %+v", a)
	}
}

// What one node says of others is bounded, however many reports it takes.
func TestAttackAChildInventsNoMoreNodesThanATreeHas(t *testing.T) {
	table := tableOf("plant")
	for i := range 200 {
		var list []string
		for k := range 60 {
			name := fmt.Sprintf("n%d", 60*i+k)
			list = append(list, `{"n":"`+name+`","v":1,"s":{"node":{"path":["`+name+`"]}}}`)
		}
		if _, err := table.Take("plant", []byte(`{"nodes":[`+strings.Join(list, ",")+`]}`), ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(table.Nodes()); n > replica.MaxNodes+1 {
		t.Errorf("%d nodes are known", n)
	}
}

func TestANodeThatIsNoChildReportsNothing(t *testing.T) {
	table := tableOf("plant")
	for _, method := range []string{replica.FormerTreeMethod, replica.FormerFleetMethod} {
		if _, err := table.TakeFormer("stranger", method, []byte(`{"nodes":[{"name":"stranger"}]}`), ""); !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %v", method, err)
		}
	}
	if _, err := table.Take("stranger", []byte(`{"nodes":[{"v":1}]}`), ""); !fault.Is(err, fault.Refused) {
		t.Error(err)
	}
}

// The files are as the version before wrote them.
func TestTheFilesOfTheFormerVersionAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tree.json":    `{"campus":{"nodes":[{"name":"campus","path":["campus"],"origins":["campus~b"],"prefix":"sites/campus"},{"name":"house","path":["campus","house"],"origins":["house~a"],"prefix":"sites/campus/house","away":"2026-11-22T05:00:00Z"}],"away":"2026-11-22T07:00:00Z","heard":"2026-11-22T06:59:50Z"}}`,
		"ledgers.json": `{"campus":{"at":"2026-11-22T06:59:40Z","nodes":[{"node":"campus","path":["campus"],"state":"here","as_of":"2026-11-22T06:59:40Z","reason":"","ledger":"ok","stores":true,"prefix":"","origins":[{"origin":"house~a","own":false,"produced":950,"acknowledged":950,"stored":950,"refused":0,"missing":0,"repeated":0,"left_out":0,"backlog_blocks":0,"backlog_samples":0,"balanced":true}],"gaps":[]},{"node":"house","path":["campus","house"],"state":"old","as_of":"2026-11-22T04:59:00Z","reason":"","ledger":"ok","stores":true,"prefix":"","origins":[],"gaps":[]}]}}`,
		"outages.json": `{"stopped":"2026-11-22T07:00:01Z","outages":{},"before":{}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := plant("region", nil)
	plant("campus", s).online = false
	s.open(dir)
	nodes := s.table.Nodes()
	if len(nodes) != 2 || nodes[1].Name != "house" || strings.Join(nodes[1].Path, "/") != "campus/house" || nodes[1].Prefix != "sites/campus/house" || nodes[1].Origins[0] != "house~a" ||
		!nodes[0].Away.Equal(time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)) || !nodes[1].Away.Equal(time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)) {
		t.Errorf("below are %+v", nodes)
	}
	if got := s.states(); got != "campus old 950, campus/house old 0" {
		t.Errorf("the accounts are %s", got)
	}
	if !strings.Contains(string(s.file.Outages()), "stopped") {
		t.Errorf("the outages are %q", s.file.Outages())
	}
	if err := s.file.WriteOutages([]byte(`{"stopped":"2026-11-22T08:00:00Z"}`)); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != replica.FileName {
		t.Errorf("in the folder are %v, %v", left, err)
	}
	again := replica.OpenFile(dir, slog.New(slog.DiscardHandler))
	s.table = tableOf("campus")
	s.table.Load(again)
	if got := s.states(); !strings.HasPrefix(got, "campus ") || !strings.Contains(got, " 950") || !strings.Contains(string(again.Outages()), "08:00") {
		t.Errorf("from the new file: %s, %s", got, again.Outages())
	}
}
