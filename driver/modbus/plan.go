package modbus

import (
	"cmp"
	"slices"
)

// maxBits is the maximum number of coils or inputs in one request (V1.1b3, 6.1).
const maxBits = 2000

// request is one read: a run of addresses of one table, and the registers in it.
type request struct {
	table   table
	first   uint16
	count   uint16
	members []int // indices into the registry, by address

	failures int // consecutive answers "device failure"
}

// planner groups registers into requests. It remembers refusals: a run that was split stays split, so that
// the next scan does not provoke the same refusal.
type planner struct {
	registers []register
	order     []int  // indices into registers, by table and address
	place     []int  // position of a register in order
	breaks    []bool // by position: no request continues across the start of this register
	most      int    // maximum registers in one request
	gap       int    // unneeded registers that may be read between two wanted ones
}

func newPlanner(registers []register, most, gap int) *planner {
	p := &planner{
		registers: registers, most: most, gap: gap,
		order: make([]int, len(registers)), place: make([]int, len(registers)),
		breaks: make([]bool, len(registers)),
	}
	for i := range p.order {
		p.order[i] = i
	}
	slices.SortStableFunc(p.order, func(a, b int) int {
		ra, rb := &registers[a], &registers[b]
		return cmp.Or(cmp.Compare(ra.table, rb.table), cmp.Compare(ra.address, rb.address),
			cmp.Compare(ra.layout.Words, rb.layout.Words))
	})
	for at, i := range p.order {
		p.place[i] = at
	}
	return p
}

// plan returns the fewest requests that read the wanted registers, within the limits and the splits so far.
func (p *planner) plan(wanted func(register int) bool) []request {
	var requests []request
	var members []int
	broken := false // a split lies between the last member and this register
	flush := func() {
		if len(members) > 0 {
			requests = append(requests, p.cover(members))
		}
		members = nil
	}
	for at, i := range p.order {
		broken = broken || p.breaks[at]
		if !wanted(i) {
			continue
		}
		if broken || !p.joins(members, i) {
			flush()
		}
		broken = false
		members = append(members, i)
	}
	flush()
	return requests
}

// joins reports whether register i can be read together with the members before it.
func (p *planner) joins(members []int, i int) bool {
	if len(members) == 0 {
		return true
	}
	run, r := p.cover(members), &p.registers[i]
	most := p.most
	if run.table.bits() {
		most = min(maxBits, 16*p.most)
	}
	end := int(run.first) + int(run.count)
	return r.table == run.table &&
		int(r.address) <= end+p.gap &&
		max(end, r.end())-int(run.first) <= most
}

// end is the address after the register.
func (r *register) end() int { return int(r.address) + r.layout.Words }

// cover returns the request for members, which are in order.
func (p *planner) cover(members []int) request {
	first := &p.registers[members[0]]
	end := 0
	for _, i := range members {
		end = max(end, p.registers[i].end())
	}
	return request{table: first.table, first: first.address, count: uint16(end - int(first.address)), members: members}
}

// split cuts a request that the device refused into two, and remembers the cut. It returns false if all
// members lie in the same registers: then these are what the device refuses.
func (p *planner) split(r request) (left, right request, ok bool) {
	cut := p.cut(r.members)
	if cut == 0 {
		return r, r, false
	}
	p.breaks[p.place[r.members[cut]]] = true
	return p.cover(r.members[:cut]), p.cover(r.members[cut:]), true
}

// cut returns where to cut: between two members that lie in different registers, near the middle; 0 if there
// is none.
func (p *planner) cut(members []int) int {
	best, middle := 0, len(members)/2
	for i := 1; i < len(members); i++ {
		a, b := &p.registers[members[i-1]], &p.registers[members[i]]
		if a.address == b.address && a.layout.Words == b.layout.Words {
			continue
		}
		if best == 0 || abs(i-middle) < abs(best-middle) {
			best = i
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }
