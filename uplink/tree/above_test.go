package tree_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/api/answer"
	"voltbus/point"
	"voltbus/uplink/lineage"
	"voltbus/uplink/replica"
)

func TestAChildThatDoesNotAnswerKeepsNobodyFromHearingWhoIsAbove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		region := plant(t, "region", nil)
		campus := plant(t, "campus", region)
		campus.link(false)
		sites := []*site{region, campus}
		for i := range 9 {
			s := plant(t, "plant-"+strconv.Itoa(i), campus)
			s.deaf = i == 0
			sites = append(sites, s)
		}
		run(t, sites...)
		settle()
		campus.link(true)
		settle()
		for _, s := range sites[3:] {
			if above, _ := s.lineage.Ancestors(); strings.Join(above, " ") != "campus region" {
				t.Errorf("above %s are %q, want campus and region", s.name, above)
			}
		}
	})
}

func TestWhatTheParentTellsMeanwhileCountsMoreThanItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		say := func(above ...string) []byte {
			body, err := json.Marshal(replica.Reception{Above: above})
			if err != nil {
				t.Error(err)
			}
			return body
		}
		parent := func() (lineage.Parent, bool) {
			return lineage.Parent{Name: "campus", As: "building", Online: true}, true
		}
		names := lineage.New("building", parent)
		building := replica.NewReporter(replica.Config{
			Own: func(context.Context) replica.Status { return replica.Status{} }, Origins: func() []string { return nil },
			Ledger: func(context.Context) (answer.LedgerNode, error) { return answer.LedgerNode{}, nil }, Parent: parent,
			Up: func(context.Context, string, []byte) ([]byte, error) {
				answer := say("campus")
				return answer, names.Above(say("campus", "region")) // it joined before the answer arrives
			},
			Log: slog.New(slog.DiscardHandler), Now: time.Now,
		}, replica.NewTable(replica.TableConfig{
			Children: func() []replica.Child { return nil }, Place: func(p point.Path) point.Path { return p }, Lineage: names, Now: time.Now,
		}))
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go func() { _ = building.Run(ctx) }()
		settle()
		if above, _ := names.Ancestors(); strings.Join(above, " ") != "campus region" {
			t.Errorf("above it are %q, want campus and region", above)
		}
	})
}
