package delivery

import "time"

// rateSpan is over how many seconds a rate is taken.
const rateSpan = 10

// rate counts readings by second. The zero rate is ready.
type rate struct {
	second [rateSpan]int64 // of which each count is
	count  [rateSpan]int
}

func (r *rate) add(now time.Time, n int) {
	s := now.Unix()
	i := s % rateSpan
	if r.second[i] != s {
		r.second[i], r.count[i] = s, 0
	}
	r.count[i] += n
}

// of returns the readings a second over the last seconds.
func (r *rate) of(now time.Time) float64 {
	sum, s := 0, now.Unix()
	for i, at := range r.second {
		if at > s-rateSpan && at <= s {
			sum += r.count[i]
		}
	}
	return float64(sum) / rateSpan
}
