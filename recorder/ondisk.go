package recorder

// WhenOnDisk calls kept, from any goroutine, when everything passed before is on disk; never if some of it had to be given
// up. It does not block, and kept must not.
func (r *Recorder) WhenOnDisk(kept func()) {
	r.mu.Lock()
	var waits []*receipt
	for _, l := range r.lanes() {
		if l.last != nil {
			waits = append(waits, l.last)
		}
	}
	r.mu.Unlock()
	r.whenAll(waits, kept)
}

// whenAll calls kept when the blocks of all receipts are on disk.
func (r *Recorder) whenAll(waits []*receipt, kept func()) {
	for i, receipt := range waits {
		r.mu.Lock()
		if !receipt.settled() {
			receipt.after = append(receipt.after, func() { r.whenAll(waits[i+1:], kept) })
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		if receipt.err != nil {
			return
		}
	}
	kept()
}

func (r *receipt) settled() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}
