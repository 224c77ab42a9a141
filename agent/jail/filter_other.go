//go:build !amd64

package jail

// deniedHere are calls that exist only on this architecture.
func deniedHere() []uint32 { return nil }
