package dnp3

import (
	"fmt"
	"slices"
	"strings"
)

// listed formats numbers in order, to compare settings.
func listed(numbers []int) string {
	sorted := slices.Clone(numbers)
	slices.Sort(sorted)
	return fmt.Sprint(slices.Compact(sorted))
}

func listedPolls(polls []Poll) string {
	var b strings.Builder
	for _, p := range polls {
		fmt.Fprintf(&b, "%s every %v;", listed(p.Classes), p.Interval)
	}
	return b.String()
}
