package modbus

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/driver/modbus/layout"
)

func at(t table, address, words int) register {
	form := layout.Uint
	if t.bits() {
		form = layout.Bool
	}
	return register{name: fmt.Sprintf("%s%d", t, address), table: t, address: uint16(address), layout: layout.Layout{Form: form, Words: words}}
}

// run is a request without its members.
type run struct {
	Table string
	First uint16
	Count uint16
}

func runs(requests []request) []run {
	var out []run
	for _, r := range requests {
		out = append(out, run{r.table.String(), r.first, r.count})
	}
	return out
}

func everything(int) bool { return true }

func TestPlan(t *testing.T) {
	for name, c := range map[string]struct {
		registers []register
		most, gap int
		want      []run
	}{
		"nothing gives no request": {want: nil, most: 125},
		"adjacent registers in any order share a request": {
			registers: []register{at(holding, 4, 2), at(holding, 0, 2), at(holding, 2, 2)}, most: 125,
			want: []run{{"holding", 0, 6}},
		},
		"a gap of one register divides": {
			registers: []register{at(holding, 0, 1), at(holding, 2, 1)}, most: 125,
			want: []run{{"holding", 0, 1}, {"holding", 2, 1}},
		},
		"a gap that is allowed does not": {
			registers: []register{at(holding, 0, 1), at(holding, 2, 1)}, most: 125, gap: 1,
			want: []run{{"holding", 0, 3}},
		},
		"tables never mix": {
			registers: []register{at(input, 0, 1), at(holding, 1, 1), at(coil, 0, 1), at(discrete, 1, 1)}, most: 125,
			want: []run{{"coil", 0, 1}, {"discrete", 1, 1}, {"input", 0, 1}, {"holding", 1, 1}},
		},
		"a value is never divided at the limit": {
			registers: []register{at(holding, 0, 1), at(holding, 1, 2), at(holding, 3, 2)}, most: 4,
			want: []run{{"holding", 0, 3}, {"holding", 3, 2}},
		},
		"several points of one register are read once": {
			registers: []register{at(holding, 9, 1), at(holding, 9, 1), at(holding, 9, 2)}, most: 125,
			want: []run{{"holding", 9, 2}},
		},
		"the last address is reached": {
			registers: []register{at(holding, 65534, 2), at(holding, 65533, 1)}, most: 125,
			want: []run{{"holding", 65533, 3}},
		},
		"bits have a limit of their own": {
			registers: []register{at(coil, 0, 1), at(coil, 1, 1), at(coil, 15, 1), at(coil, 17, 1)}, most: 1, gap: 20,
			want: []run{{"coil", 0, 16}, {"coil", 17, 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := newPlanner(c.registers, c.most, c.gap).plan(everything)
			if diff := cmp.Diff(c.want, runs(got)); diff != "" {
				t.Errorf("requests differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryWantedRegisterIsReadOnceWithinTheLimits draws registries and wishes.
func TestEveryWantedRegisterIsReadOnceWithinTheLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, wanted := drawPlanner(t)
		seen := make(map[int]bool)
		for _, r := range p.plan(func(i int) bool { return wanted[i] }) {
			if limit := map[bool]int{true: 16 * p.most, false: p.most}[r.table.bits()]; int(r.count) > limit || r.count == 0 {
				t.Fatalf("a request has %d registers, at most %d are allowed", r.count, limit)
			}
			for _, i := range r.members {
				member := &p.registers[i]
				if seen[i] || !wanted[i] || member.table != r.table || member.address < r.first || member.end() > int(r.first)+int(r.count) {
					t.Fatalf("register %d of request %+v: seen %v, wanted %v", i, r, seen[i], wanted[i])
				}
				seen[i] = true
			}
		}
		for i, w := range wanted {
			if w && !seen[i] {
				t.Fatalf("register %d is wanted and not read", i)
			}
		}
	})
}

func drawPlanner(t *rapid.T) (*planner, []bool) {
	var registers []register
	var wanted []bool
	for range rapid.IntRange(0, 60).Draw(t, "registers") {
		tab := rapid.SampledFrom([]table{coil, discrete, input, holding}).Draw(t, "table")
		words := 1
		if !tab.bits() {
			words = rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "words")
		}
		registers = append(registers, at(tab, rapid.IntRange(0, 200).Draw(t, "address"), words))
		wanted = append(wanted, rapid.Bool().Draw(t, "wanted"))
	}
	return newPlanner(registers, rapid.IntRange(4, 125).Draw(t, "most"), rapid.IntRange(0, 30).Draw(t, "gap")), wanted
}

// TestBisectionFindsWhatTheDeviceHasAndRemembersIt plays a device that has only some addresses:
// splitting ends, all registers that it has are read, and the next plan runs into no refusal but
// those of registers that it has not.
func TestBisectionFindsWhatTheDeviceHasAndRemembersIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, wanted := drawPlanner(t)
		holes := make(map[int]bool)
		for range rapid.IntRange(0, 20).Draw(t, "holes") {
			holes[rapid.IntRange(0, 203).Draw(t, "hole")] = true
		}
		good := func(first, end int) bool {
			for a := first; a < end; a++ {
				if holes[a] {
					return false
				}
			}
			return true
		}
		refused := make(map[int]bool)
		queue := p.plan(func(i int) bool { return wanted[i] })
		for asked := 0; len(queue) > 0; asked++ {
			if asked > 1000 {
				t.Fatal("splitting does not end")
			}
			r := queue[0]
			queue = queue[1:]
			if good(int(r.first), int(r.first)+int(r.count)) {
				continue
			}
			if left, right, ok := p.split(r); ok {
				queue = append(queue, left, right)
				continue
			}
			for _, i := range r.members {
				if good(int(p.registers[i].address), p.registers[i].end()) {
					t.Fatalf("register %d is refused although the device has it", i)
				}
				refused[i] = true
			}
		}
		for _, r := range p.plan(func(i int) bool { return wanted[i] && !refused[i] }) {
			if p.gap == 0 && !good(int(r.first), int(r.first)+int(r.count)) {
				t.Fatalf("the next plan runs into the refusal of %d+%d again", r.first, r.count)
			}
		}
	})
}

func BenchmarkPlan(b *testing.B) {
	var registers []register
	for i := range 500 {
		registers = append(registers, at(holding, 3*i, 2))
	}
	p := newPlanner(registers, 125, 1)
	b.ReportAllocs()
	for b.Loop() {
		p.plan(everything)
	}
}
