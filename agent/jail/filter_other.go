//go:build !amd64

package jail

// deniedHere are calls that this architecture alone has.
func deniedHere() []uint32 { return nil }
