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

	"voltbus/point"
	"voltbus/uplink/tree"
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
			if above, _ := s.tree.Ancestors(); strings.Join(above, " ") != "campus region" {
				t.Errorf("above %s are %q, want campus and region", s.name, above)
			}
		}
	})
}

func TestWhatTheParentTellsMeanwhileCountsMoreThanItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var building *tree.Tree
		say := func(above ...string) []byte {
			body, err := json.Marshal(tree.Reception{Above: above})
			if err != nil {
				t.Error(err)
			}
			return body
		}
		building = tree.New(tree.Config{
			Name: "building", Origins: func() []string { return nil }, Children: func() []tree.Child { return nil },
			Parent: func() (tree.Above, bool) { return tree.Above{Name: "campus", As: "building", Online: true}, true },
			Place:  func(p point.Path) point.Path { return p },
			Up: func(context.Context, string, []byte) ([]byte, error) {
				answer := say("campus")
				return answer, building.Above(say("campus", "region")) // it joined before the answer arrives
			},
			Log: slog.New(slog.DiscardHandler), Now: time.Now,
		})
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go func() { _ = building.Run(ctx) }()
		settle()
		if above, _ := building.Ancestors(); strings.Join(above, " ") != "campus region" {
			t.Errorf("above it are %q, want campus and region", above)
		}
	})
}
