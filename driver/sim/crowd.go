package sim

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/point"
)

// crowd is the model random: many cheap points for load tests. A read allocates nothing.
type crowd struct {
	line    *line
	seed    uint64
	count   int
	closed  bool
	samples []point.Sample // of the last read
}

// crowdPoints lists p1 to pN.
func crowdPoints(count int) []point.Info {
	infos := make([]point.Info, count)
	for i := range infos {
		infos[i] = point.Info{
			Path: point.Path("p" + strconv.Itoa(i+1)), Kind: point.Float, Unit: "1",
			Description: "random value between 0 and 100",
		}
	}
	return infos
}

// Read implements driver.Session.
func (c *crowd) Read(ctx context.Context, names []string) ([]point.Sample, error) {
	if err := c.line.ready(ctx, "sim.Read"); err != nil {
		return nil, err
	}
	return c.at(time.Now(), names), nil
}

// at returns the samples at a moment. Values change once per second.
func (c *crowd) at(t time.Time, names []string) []point.Sample {
	t = t.UTC().Truncate(time.Microsecond)
	moment := scramble(c.seed ^ scramble(uint64(t.Unix())))
	c.samples = slices.Grow(c.samples[:0], len(names))[:len(names)]
	for i, name := range names {
		s := &c.samples[i]
		*s = point.Sample{Point: point.Path(name), Time: t}
		n := c.number(name)
		if n == 0 {
			s.Quality = point.BadConfig
			continue
		}
		s.Value = point.FloatOf(float64(scramble(moment+uint64(n))%100_001) / 1000)
	}
	return c.samples
}

// number returns n for the name pn, 1 to count; 0 for any other name.
func (c *crowd) number(name string) int {
	digits, ok := strings.CutPrefix(name, "p")
	if !ok || digits == "" || digits[0] == '0' || digits[0] == '+' {
		return 0
	}
	n := 0
	for _, d := range []byte(digits) {
		if d < '0' || d > '9' || n > c.count {
			return 0
		}
		n = 10*n + int(d-'0')
	}
	if n > c.count {
		return 0
	}
	return n
}

// Close implements driver.Session.
func (c *crowd) Close() error {
	if !c.closed {
		c.closed = true
		c.line.open--
	}
	return nil
}
