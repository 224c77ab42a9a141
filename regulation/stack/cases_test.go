package stack_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"voltbus/regulation"
	"voltbus/regulation/stack"
)

var update = flag.Bool("update", false, "write what the stack decides into testdata/cases.json")

// casesFile has situations, and what is decided. The agent in Python, which has the same rules, is tested with the same file.
const casesFile = "testdata/cases.json"

type situation struct {
	Target   float64             `json:"target"`
	Units    []regulation.Report `json:"units"`
	Changes  []change            `json:"changes"`
	Expected float64             `json:"expected"`
	More     float64             `json:"more"`
	Less     float64             `json:"less"`
}

type change struct {
	Unit  int     `json:"unit"`
	On    bool    `json:"on"`
	Speed float64 `json:"speed"`
}

// situations are drawn by a seed: coolers, heaters and fans of several sizes, some of them locked out.
func situations() (out []situation) {
	random := rand.New(rand.NewPCG(11, 3))
	tenth := func(from, to float64) float64 { return math.Round((from+(to-from)*random.Float64())*10) / 10 }
	for range 40 {
		s := situation{Units: []regulation.Report{}}
		total := 0.0
		for range random.IntN(12) {
			r := regulation.Report{Unit: "u", Low: 21, High: 23, Temperature: tenth(20.8, 23.2), Rated: tenth(0.5, 8), Heating: random.IntN(4) == 0, Variable: random.IntN(4) == 0}
			r.On = random.IntN(2) == 0
			switch {
			case r.On && r.Variable:
				r.Speed = tenth(0.2, 1)
				r.Power = r.Rated * r.Speed * r.Speed * r.Speed
			case r.On:
				r.Power = r.Rated
			}
			if random.IntN(5) == 0 {
				r.Free = 1
			}
			total += r.Rated
			s.Units = append(s.Units, r)
		}
		s.Target = math.Round(total * random.Float64())
		out = append(out, s)
	}
	return out
}

func TestTheStackDecidesAsTheSharedCasesSay(t *testing.T) {
	var list []situation
	if *update {
		list = situations()
	} else if data, err := os.ReadFile(casesFile); err != nil {
		t.Fatal(err)
	} else if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	var s stack.Stack
	changes := 0
	for i := range list {
		c, d := &list[i], s.Decide(list[i].Units, list[i].Target)
		got := situation{Target: c.Target, Units: c.Units, Changes: []change{}, Expected: d.Expected, More: d.More, Less: d.Less}
		for _, one := range d.Changes {
			got.Changes = append(got.Changes, change{one.Unit, one.On, one.Speed})
		}
		changes += len(got.Changes)
		if *update {
			*c = got
			continue
		}
		if !alike(c, &got) {
			t.Errorf("case %d: %+v instead of %+v; if that is meant, run go test ./regulation/stack -run Shared -update", i, got, *c)
		}
	}
	if changes < len(list) {
		t.Errorf("%d changes in %d cases: they show too little", changes, len(list))
	}
	if *update {
		data, err := json.Marshal(list)
		if err == nil {
			data = append(bytes.ReplaceAll(data, []byte(`},{"target"`), []byte("},\n"+`{"target"`)), '\n')
			err = os.WriteFile(casesFile, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func alike(a, b *situation) bool {
	near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }
	if len(a.Changes) != len(b.Changes) || !near(a.Expected, b.Expected) || !near(a.More, b.More) || !near(a.Less, b.Less) {
		return false
	}
	for i, x := range a.Changes {
		if y := b.Changes[i]; x.Unit != y.Unit || x.On != y.On || !near(x.Speed, y.Speed) {
			return false
		}
	}
	return true
}
