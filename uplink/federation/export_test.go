package federation

// Held returns how many bytes of samples of descendants are held, and how many were at once.
func (f *Federation) Held() (now, most int64) { return f.budget.held.Load(), f.budget.most.Load() }

// Asked returns how many goroutines asked at once.
func (f *Federation) Asked() int64 { return f.budget.asked.Load() }

// What bounds the rest of what is held.
const (
	Decoders = decoders
	AtOnce   = atOnce
)
