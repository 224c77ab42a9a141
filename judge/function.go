package judge

import (
	"context"
	"time"

	"voltbus/judge/setting"
	"voltbus/point"
)

// Reading is a reading that a function is asked about.
type Reading struct {
	Point   point.Path
	Time    int64 // microseconds since 1970 UTC
	Value   point.Value
	Quality point.Quality
}

// Opinion is what a function says of a reading that does not simply pass: it is withheld, or marked.
type Opinion struct {
	Reading  int // index
	Withheld bool
	Reason   string
	Unjudged bool // the function gave no answer, and its rule says what becomes of the reading then
}

// Function judges readings outside of this process. One goroutine at a time uses it, but State, which anybody may call.
type Function interface {
	// Judge returns opinions on readings, by their index; none on one that passes. It always answers, in a bounded time: it fails only when ctx ends.
	Judge(ctx context.Context, readings []Reading) ([]Opinion, error)
	State() FunctionState
	// Close ends its process. Judge starts one again.
	Close()
}

// FunctionState is how a function is.
type FunctionState struct {
	Err      string    // why it gives no answer at present; "" in normal operation
	Since    time.Time // when that began
	Failures uint64    // since the start of the node
}

// Verdict returns what becomes of a reading by an opinion.
func (o *Opinion) Verdict(rule int, q point.Quality) Verdict {
	v := Verdict{Rule: rule, Withheld: o.Withheld, Quality: q, Reason: o.Reason, Unjudged: o.Unjudged}
	if !o.Withheld && q.IsGood() {
		v.Quality = point.Uncertain
	}
	return v
}

// Functions are the indexes of the rules whose check is a function.
func Functions(rules setting.Rules) (list []int) {
	for i := range rules {
		if rules[i].Check == setting.Function {
			list = append(list, i)
		}
	}
	return list
}
