package receiver

// Known returns how many origins the receiver remembers.
func (r *Receiver) Known() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.origins)
}
